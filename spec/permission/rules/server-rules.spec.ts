import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
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
const call = (changed: string | null = null): ServerAccess => ({
  kind: 'server',
  isAnother: false,
  acceptServer: () => undefined,
  about: "a tool of the server 'x'",
  changed,
  preview: () => '',
  accept: () => {},
});

async function decision(tool: string, permissions: Partial<Permissions>, changed: string | null = null) {
  return await judge(tool, call(changed), readRules({ ...NONE, ...permissions }, SUBJECTS, '/'), context);
}

describe('a rule about the tools of servers', () => {
  it.each([
    [{}, 'ask'],
    [{ allow: ['mcp__x__read'] }, 'allow'],
    [{ allow: ['mcp__x__*'] }, 'allow'],
    [{ allow: ['mcp__y__*', 'bash'] }, 'ask'],
    [{ allow: ['mcp__x__rea'] }, 'ask'],
    [{ allow: ['mcp__x__*'], ask: ['mcp__x__read'] }, 'ask'],
    [{ allow: ['mcp__x__*'], ask: ['mcp__x__read'], deny: ['mcp__x__r*'] }, 'deny'],
  ])('%j makes of a call: %s', async (permissions, expected) => {
    expect((await decision('mcp__x__read', permissions)).decision).toBe(expected);
  });

  it('allows nothing that has changed since, and offers to store the tool alone', async () => {
    const verdict = await decision('mcp__x__read', { allow: ['mcp__x__*'] }, 'it is new');
    expect(verdict).toEqual({ decision: 'ask', reason: 'it is new', rule: 'mcp__x__read' });
    expect((await decision('mcp__x__read', { deny: ['mcp__x__*'] }, 'it is new')).decision).toBe('deny');
  });

  it('says nothing about an argument', () => {
    expect(() => readRules({ ...NONE, allow: ['mcp__x__read(a:*)'] }, SUBJECTS, '/')).toThrow(
      'says more than the name of a tool',
    );
    expect(() => readRules({ ...NONE, allow: ['bash*'] }, SUBJECTS, '/')).toThrow('does not begin with the name');
  });

  it('concerns no other server than the one that it names', async () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    await fc.assert(
      fc.asyncProperty(name, name, name, async (named, other, tool) => {
        const { decision: made } = await decision(`mcp__${other}__${tool}`, { allow: [`mcp__${named}__*`] });
        expect(made).toBe(named === other ? 'allow' : 'ask');
      }),
    );
  });
});
