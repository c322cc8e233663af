import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Access } from '../../../lib/permission/access.js';
import { judge, judgeInTime } from '../../../lib/permission/judge.js';
import type { JudgeContext } from '../../../lib/permission/paths/judge-path.js';
import {
  concerns,
  describeRule,
  generalSubject,
  type Permissions,
  type RuleEntry,
  type RuleSubject,
  readRules,
} from '../../../lib/permission/rules/rules.js';

const SUBJECTS: readonly RuleSubject[] = [
  { name: 'run', accessKind: 'execute', rulesCoverKind: true },
  { name: 'look', accessKind: 'read', rulesCoverKind: true },
  { name: 'list', accessKind: 'read', rulesCoverKind: false },
  { name: 'search_talk', accessKind: 'conversation', rulesCoverKind: false },
  { name: 'remember', accessKind: 'memory', rulesCoverKind: false },
  { name: 'mcp__', accessKind: 'server', rulesCoverKind: false, isFamily: true },
];

const ROOT = '/nowhere/project';
const rulesOf = (permissions: Partial<Permissions>, root = ROOT) =>
  readRules({ allow: [], ask: [], deny: [], ...permissions }, SUBJECTS, root);
const allowed = (entry: RuleEntry, root = ROOT) => rulesOf({ allow: [entry] }, root).allow;

const CONTEXT: JudgeContext = {
  ...{ root: ROOT, workingFolder: ROOT, ownPlaces: [], freeFolders: [], hasSandbox: false, env: {} },
};
const judged = (tool: string | null, access: Access, permissions: Partial<Permissions> = {}) =>
  judge(tool, access, rulesOf(permissions), CONTEXT);

describe('a rule', () => {
  it('covers all calls of a tool, one text, or what begins with a text', () => {
    const scopes = (...sources: readonly string[]) => sources.map((source) => allowed(source)[0]?.scope);
    expect(scopes('run', ' run ', 'run(*)', 'run(:*)')).toEqual([1, 2, 3, 4].map(() => ({ kind: 'all' })));
    expect(scopes('run(npm test)', 'run (npm test)')).toEqual([1, 2].map(() => ({ kind: 'exact', text: 'npm test' })));
    expect(scopes('run(npm:*)', 'look(src/**)')).toEqual([
      { kind: 'prefix', text: 'npm' },
      { kind: 'exact', text: 'src/**' },
    ]);
    expect(scopes('run(echo (a)\nb)')).toEqual([{ kind: 'exact', text: 'echo (a)\nb' }]);
  });

  it('says what its commands may do, nothing by default', () => {
    expect(allowed('run(make)')[0]?.grant).toEqual({ write: false, network: false, read: [] });
    expect(allowed({ rule: 'run(make)', write: true })[0]?.grant).toEqual({ write: true, network: false, read: [] });
    expect(allowed({ rule: 'run(make)', network: true })[0]?.grant).toEqual({ write: false, network: true, read: [] });
    expect(allowed({ rule: 'run(make)', read: ['~/notes'] })[0]?.grant.read).toEqual(['~/notes']);
    expect(describeRule('run(make)')).toBe('run(make)');
    expect(describeRule({ rule: 'run(make)', write: true, network: true })).toBe(
      'run(make), may write, may use the network',
    );
    expect(describeRule({ rule: 'run(make)', read: ['~/a', '/b'] })).toBe('run(make), may read ~/a, /b');
    expect(describeRule({ rule: 'run(make)', network: true })).toBe('run(make), may use the network');
  });

  it("applies in its folder only, under any of that folder's names", () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-rules-'));
    try {
      mkdirSync(join(folder, 'real'));
      symlinkSync('real', join(folder, 'link'));
      const holds = (inFolder: string, root: string): boolean =>
        allowed({ rule: 'run', folder: inFolder }, root).length === 1;
      expect(holds(join(folder, 'real'), join(folder, 'link'))).toBe(true);
      expect(holds(join(folder, 'link'), join(folder, 'real'))).toBe(true);
      expect(holds(folder, join(folder, 'real'))).toBe(false);
      expect(holds('/gone/project/', '/gone/project')).toBe(true);
      expect(holds('/gone/project', '/gone/other')).toBe(false);
      expect([holds('~', homedir()), holds('~/', homedir()), holds('~x', homedir())]).toEqual([true, true, false]);
      expect(holds('~/gone-project', join(homedir(), 'gone-project'))).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('that is invalid causes an error that names it, the list and what to write', () => {
    const failing = (source: string, list: keyof Permissions = 'allow') => {
      try {
        rulesOf({ [list]: [source] });
      } catch (thrown) {
        return thrown;
      }
      throw new Error(`The rule '${source}' was taken.`);
    };
    expect(failing('rum(npm test)', 'deny')).toMatchObject({
      code: 'config',
      message: "The rule 'rum(npm test)' in tools.permissions.deny does not begin with the name of a tool.",
      hint: expect.stringMatching(/'run'.*Write tool, tool\(exact text\) or tool\(prefix:\*\)\.$/),
    });
    for (const source of ['', '(npm)', 'run(npm', 'run npm', 'mcp__', '9run'])
      expect(failing(source, 'ask')).toMatchObject({
        message: expect.stringContaining('in tools.permissions.ask does not begin'),
      });
    expect(failing('mcp__')).toMatchObject({
      hint: "Names of tools begin with 'mcp__'. Write 'mcp__*' for all of them.",
    });
    for (const source of ['run()', 'run( )', 'run( :*)'])
      expect(failing(source)).toMatchObject({
        message: expect.stringContaining('has empty parentheses.'),
        hint: expect.stringContaining("Write 'run' for every call of this tool"),
      });
    expect(failing('look(src/[[:alpha:]]*)')).toMatchObject({
      message: expect.stringMatching(/has a pattern that is not supported: '/),
      hint: 'Patterns are *, **, ?, [a-z], [!a-z] and {a,b}.',
    });
    expect(allowed('run(ls [[:alpha:]]*)')).toHaveLength(1);
    expect(failing('mcp__git(status)')).toMatchObject({
      message: "The rule 'mcp__git(status)' in tools.permissions.allow does not name an argument of the tool.",
      hint: "Write 'mcp__git(argument=pattern)', or 'mcp__git' for every call.",
    });
  });

  it('applies to the calls of its tool, of all tools of its kind where it covers these, and of its family', () => {
    const about = (source: string, kind: Access['kind'], tool: string | null): boolean => {
      const [rule] = allowed(source);
      return rule !== undefined && concerns(rule, kind, tool);
    };
    expect([about('look', 'read', 'list'), about('look', 'read', null), about('look', 'write', 'look')]).toEqual([
      true,
      true,
      true,
    ]);
    expect([about('list', 'read', 'look'), about('list', 'read', 'list'), about('look', 'write', 'edit')]).toEqual([
      false,
      true,
      false,
    ]);
    expect([about('mcp__git', 'server', 'mcp__git'), about('mcp__git', 'server', 'mcp__gitx')]).toEqual([true, false]);
    expect([about('mcp__git*', 'server', 'mcp__gitx'), about('mcp__git*', 'server', 'mcp__npm')]).toEqual([
      true,
      false,
    ]);
    expect(about('mcp__git*', 'server', null)).toBe(false);
    expect([generalSubject(rulesOf({}), 'read'), generalSubject(rulesOf({}), 'memory')]).toEqual(['look', null]);
  });
});

describe('an access to something other than files and commands', () => {
  const memory: Access = { kind: 'memory', byHand: '/remember', preview: async () => '' };
  const server = (changed: string | null = null): Access => ({
    ...{
      kind: 'server',
      about: 'a tool of git',
      changed,
      args: {},
      isAnother: false,
      preview: () => '',
      accept: () => undefined,
      acceptServer: () => undefined,
    },
  });

  it('to the conversation is allowed, unless a rule restricts it', async () => {
    const talk: Access = { kind: 'conversation' };
    expect(await judged('search_talk', talk)).toEqual({ decision: 'allow' });
    expect(await judged('search_talk', talk, { ask: ['search_talk'] })).toEqual({
      ...{ decision: 'ask', reason: "the rule 'search_talk' says to ask", rule: null },
    });
    const both = { ask: ['search_talk'], deny: ['search_talk'], allow: ['search_talk'] };
    expect(await judged('search_talk', talk, both)).toEqual({
      ...{ decision: 'deny', reason: "the rule 'search_talk' forbids it" },
    });
    expect(await judged('search_talk', talk, { deny: ['remember'] })).toEqual({ decision: 'allow' });
  });

  it('to the memory is asked about, unless a rule allows all of them', async () => {
    expect(await judged('remember', memory)).toEqual({
      ...{ decision: 'ask', reason: 'what it contains is sent with every later request', rule: 'remember' },
    });
    expect(await judged('remember', memory, { allow: ['remember'] })).toEqual({ decision: 'allow' });
    expect(await judged('remember', memory, { allow: ['look'] })).toMatchObject({ decision: 'ask' });
    expect(await judged('remember', memory, { allow: ['remember'], ask: ['remember'] })).toMatchObject({
      decision: 'ask',
      rule: null,
    });
    expect(await judged('remember', memory, { deny: ['remember'] })).toMatchObject({ decision: 'deny' });
  });

  it('to a server is asked about, unless a rule allows the tool in this form', async () => {
    const tool = 'mcp__git__log';
    expect(await judged(tool, server())).toEqual({ decision: 'ask', reason: 'a tool of git', rule: tool });
    expect(await judged(tool, server(), { allow: ['mcp__git__*'] })).toEqual({ decision: 'allow' });
    expect(await judged(tool, server('it is another one now'), { allow: [tool] })).toEqual({
      ...{ decision: 'ask', reason: 'it is another one now', rule: tool },
    });
    expect(await judged(tool, server(), { allow: ['mcp__npm__*'] })).toMatchObject({ decision: 'ask' });
    expect(await judged(tool, server('x'), { deny: ['mcp__*'] })).toMatchObject({ decision: 'deny' });
    expect(await judged(tool, server('x'), { ask: ['mcp__*'] })).toMatchObject({
      reason: "the rule 'mcp__*' says to ask",
    });
  });

  it('is decided in the same way if it may not be stored with "always"', async () => {
    const { signal } = new AbortController();
    const verdict = await judgeInTime('remember', memory, rulesOf({ deny: ['look'] }), CONTEXT, signal);
    expect(verdict).toMatchObject({ decision: 'ask', rule: 'remember' });
  });
});
