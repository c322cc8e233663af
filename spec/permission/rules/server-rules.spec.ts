import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../lib/chat/json.js';
import type { ServerAccess } from '../../../lib/permission/access.js';
import { judge } from '../../../lib/permission/judge.js';
import { type Permissions, type RuleSubject, readRules } from '../../../lib/permission/rules/rules.js';

const SUBJECTS: readonly RuleSubject[] = [
  { name: 'bash', accessKind: 'execute', rulesCoverKind: true },
  { name: 'mcp__', accessKind: 'server', rulesCoverKind: false, isFamily: true },
];
const NONE: Permissions = { allow: [], ask: [], deny: [] };
const context = {
  root: '/',
  workingFolder: '/',
  ownPlaces: [],
  freeFolders: [],
  hasSandbox: false,
  env: {},
};
const call = (changed: string | null, args: JsonObject): ServerAccess => ({
  kind: 'server',
  args,
  isAnother: false,
  acceptServer: () => undefined,
  about: "a tool of the server 'x'",
  changed,
  preview: () => '',
  accept: () => {},
});

async function decision(
  tool: string,
  permissions: Partial<Permissions>,
  changed: string | null = null,
  args: JsonObject = {},
) {
  return await judge(tool, call(changed, args), readRules({ ...NONE, ...permissions }, SUBJECTS, '/'), context);
}

describe('a rule for the tools of servers', () => {
  it.each([
    [{}, 'ask'],
    [{ allow: ['mcp__x__read'] }, 'allow'],
    [{ allow: ['mcp__x__*'] }, 'allow'],
    [{ allow: ['mcp__y__*', 'bash'] }, 'ask'],
    [{ allow: ['mcp__x__rea'] }, 'ask'],
    [{ allow: ['mcp__x__*'], ask: ['mcp__x__read'] }, 'ask'],
    [{ allow: ['mcp__x__*'], ask: ['mcp__x__read'], deny: ['mcp__x__r*'] }, 'deny'],
  ])('%j decides about a call: %s', async (permissions, expected) => {
    expect((await decision('mcp__x__read', permissions)).decision).toBe(expected);
  });

  it('allows nothing that has changed since, and suggests storing the tool alone', async () => {
    const verdict = await decision('mcp__x__read', { allow: ['mcp__x__*'] }, 'it is new');
    expect(verdict).toEqual({ decision: 'ask', reason: 'it is new', rule: 'mcp__x__read' });
    expect((await decision('mcp__x__read', { deny: ['mcp__x__*'] }, 'it is new')).decision).toBe('deny');
  });

  it.each([
    ['path=src/*', { path: 'src/a.ts' }, 'allow'],
    ['path=src/*', { path: 'src/a/b.ts' }, 'ask'],
    ['path=src/**', { path: 'src/a/b.ts', more: 1 }, 'allow'],
    ['path=src/**', { path: 'src/../etc/passwd' }, 'ask'],
    ['path=src/**', { path: '/src/a' }, 'ask'],
    ['path=src/**', { path: ['src/a'] }, 'ask'],
    ['path=src/**', { paths: 'src/a' }, 'ask'],
    ['path=src/**', {}, 'ask'],
    ['repo=me/{one,two}', { repo: 'me/two' }, 'allow'],
    ['count=3', { count: 3 }, 'allow'],
    ['count=3', { count: 30 }, 'ask'],
    ['path=/home/me/*', { path: '/home/me/notes' }, 'allow'],
  ])('for an argument, (%s), decides about %j: %s', async (pattern, args, expected) => {
    for (const name of ['mcp__x__read', 'mcp__x__*'])
      expect((await decision('mcp__x__read', { allow: [`${name}(${pattern})`] }, null, args)).decision).toBe(expected);
  });

  it.each([
    [{ path: 'secret/a' }, 'deny'],
    [{ path: 'x/../secret/a' }, 'deny'],
    [{ path: ['a', 'secret/a'] }, 'deny'],
    [{ path: { of: 'secret/a' } }, 'deny'],
    [{ path: 'a' }, 'allow'],
  ])('for an argument forbids every form of it: %j, %s', async (args, expected) => {
    const rules = { allow: ['mcp__x__*'], deny: ['mcp__x__*(path=secret/**)'] };
    expect((await decision('mcp__x__read', rules, null, args)).decision).toBe(expected);
  });

  it('names its argument', () => {
    for (const rule of ['mcp__x__read(a:*)', 'mcp__x__read(=a)'])
      expect(() => readRules({ ...NONE, allow: [rule] }, SUBJECTS, '/')).toThrow(
        'does not name an argument of the tool',
      );
    expect(() => readRules({ ...NONE, deny: ['mcp__x__read(a=b\\*)'] }, SUBJECTS, '/')).not.toThrow();
    expect(() => readRules({ ...NONE, allow: ['bash*'] }, SUBJECTS, '/')).toThrow('does not begin with the name');
  });

  it('applies only to the server that it names', async () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    await fc.assert(
      fc.asyncProperty(name, name, name, async (named, other, tool) => {
        const { decision: made } = await decision(`mcp__${other}__${tool}`, { allow: [`mcp__${named}__*`] });
        expect(made).toBe(named === other ? 'allow' : 'ask');
      }),
    );
  });
});
