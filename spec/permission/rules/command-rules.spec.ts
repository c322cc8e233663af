import { describe, expect, it } from '@jest/globals';
import {
  type Coverage,
  commandRules,
  coverage,
  coversCommandLine,
  matchCommand,
  READING,
  type RuleMatch,
  together,
} from '../../../lib/permission/rules/command-rules.js';
import { type RuleEntry, readRules } from '../../../lib/permission/rules/rules.js';
import { readCommand, type ShellPart } from '../../../lib/permission/shell/read-command.js';
import { tools } from '../../../lib/tools/index.js';

const rulesOf = async (...allow: readonly RuleEntry[]) =>
  await commandRules(readRules({ allow: [...allow], ask: [], deny: [] }, tools, '/nowhere').allow);

async function ruleOf(entry: RuleEntry) {
  const [rule] = await rulesOf(entry);
  if (rule === undefined) throw new Error(`${JSON.stringify(entry)} is no rule about commands.`);
  return rule;
}

async function partOf(command: string): Promise<Extract<ShellPart, { kind: 'command' }>> {
  const [part] = (await readCommand(command, {})).parts;
  if (part?.kind !== 'command') throw new Error(`${command} is no command.`);
  return part;
}

describe('the rules about commands', () => {
  it('are those for the tool that runs them, with their words as a shell reads them', async () => {
    const rules = await rulesOf('read_file', 'bash', 'bash(npm "run"  t*st:*)', "bash(A='b c' d)", 'write_file(x)');
    expect(rules.map(({ rule, words }) => [rule.source, words])).toEqual([
      ['bash', null],
      ['bash(npm "run"  t*st:*)', null],
      ["bash(A='b c' d)", ['A=b c', 'd']],
    ]);
  });

  it.each([
    ['a; b', null],
    ['# a', null],
    ['> a', null],
    ['a | b', null],
    ['a > b', null],
    ['a $B', null],
    ['a b', ['a', 'b']],
  ])('have words only if they are one simple command: %s', async (text, words) => {
    expect((await ruleOf(`bash(${text})`)).words).toEqual(words);
  });

  it('are read once', async () => {
    const { allow } = readRules({ allow: ['bash(a b)'], ask: [], deny: [] }, tools, '/nowhere');
    const [[one], [other]] = [await commandRules(allow), await commandRules(allow)];
    expect(one).toBe(other);
  });

  it.each([
    ['bash', 'rm -rf /', true],
    ['bash(a | b)', 'a | b', true],
    ['bash( a | b )', '  a | b\n', true],
    ['bash(a | b)', 'a |  b', false],
    ['bash(a | b)', 'a | b; c', false],
    ['bash(a:*)', 'a', false],
  ] as const)('%s covers the line %j as it is written: %s', async (rule, line, isCovered) => {
    expect(coversCommandLine(await ruleOf(rule), line)).toBe(isCovered);
  });
});

describe('a rule that allows', () => {
  it.each<[string, string, Coverage]>([
    ['bash', 'a', 'none'],
    ['bash(a b)', 'a b', 'all'],
    ['bash(a b)', 'a b c', 'none'],
    ['bash(a b)', 'a', 'none'],
    ['bash(a b)', 'a c', 'none'],
    ['bash(a b:*)', 'a b c', 'all'],
    ['bash(a b:*)', 'a b', 'all'],
    ['bash(a b:*)', 'a', 'none'],
    ['bash(a b:*)', 'a bc', 'none'],
    ['bash(a b:*)', '/bin/a b', 'none'],
    ['bash(a:*)', 'a $B', 'all'],
    ['bash(a:*)', 'X=1 a', 'none'],
    ['bash(X=1 a)', 'X=1 a', 'all'],
    ['bash(X=1 a:*)', 'X=1 a b', 'all'],
    ['bash(X=1:*)', 'X=1 a b', 'none'],
    ['bash(env:*)', 'env a b', 'outer'],
    ['bash(env a:*)', 'env a b', 'all'],
    ['bash(env a b:*)', 'env a b', 'all'],
    ['bash(env -i:*)', 'env -i a b', 'outer'],
    ['bash(X=1 env:*)', 'X=1 env a', 'outer'],
    ['bash(xargs a)', 'xargs a', 'all'],
    ['bash(a; b:*)', 'a', 'none'],
  ])('%s covers of %j: %s', async (rule, command, reach) => {
    expect(coverage([await ruleOf(rule)], await partOf(command)).reach).toBe(reach);
  });

  it('covers no command whose effect the text does not show, unless it names all of it', async () => {
    const command = 'find . -exec $X';
    expect((await partOf(command)).uncertainty).not.toBeNull();
    expect(coverage(await rulesOf('bash(find:*)'), await partOf(command)).reach).toBe('none');
  });

  it('is the one that covers most, with what all that cover something grant', async () => {
    const part = await partOf('env a');
    const read = await rulesOf('bash(env:*)', 'bash(env a:*)', 'bash(b:*)');
    const reach = (...indexes: readonly number[]) =>
      coverage(
        indexes.flatMap((index) => read[index] ?? []),
        part,
      ).reach;
    expect([reach(0, 1), reach(1, 0), reach(0, 2), reach(2), reach()]).toEqual(['all', 'all', 'outer', 'none', 'none']);
    const granting = await rulesOf(
      { rule: 'bash(env:*)', write: true },
      { rule: 'bash(env a:*)', network: true },
      { rule: 'bash(b:*)', write: true, network: true },
    );
    const grants = granting.map((rule) => coverage([rule], part).grant);
    expect(grants).toEqual([
      { write: true, network: false, read: [] },
      { write: false, network: true, read: [] },
      READING,
    ]);
    expect(coverage(granting, part).grant).toEqual({ write: true, network: true, read: [] });
  });

  it('grants nothing more than reading, and several grant all that one of them does', () => {
    expect(READING).toEqual({ write: false, network: false, read: [] });
    const [write, network] = [
      { write: true, network: false, read: [] },
      { write: false, network: true, read: [] },
    ];
    expect([
      together([]),
      together([READING, write]),
      together([network, READING]),
      together([write, network]),
    ]).toEqual([READING, write, network, { write: true, network: true, read: [] }]);
  });
});

describe('a rule that asks or denies', () => {
  it.each<[string, string, RuleMatch]>([
    ['bash', 'anything', 'yes'],
    ['bash(a; b)', 'a', 'no'],
    ['bash(rm:*)', 'rm x', 'yes'],
    ['bash(rm:*)', 'rmdir x', 'no'],
    ['bash(rm:*)', '/bin/rm x', 'yes'],
    ['bash(/bin/rm:*)', 'rm x', 'yes'],
    ['bash(rm:*)', '$X y', 'maybe'],
    ['bash(rm:*)', 'echo rm', 'no'],
    ['bash(rm:*)', 'env rm x', 'yes'],
    ['bash(rm:*)', 'env -i rm', 'yes'],
    ['bash(rm:*)', 'env $X', 'maybe'],
    ['bash(rm:*)', 'env echo x', 'no'],
    ['bash(rm x)', 'rm x', 'yes'],
    ['bash(rm x)', 'rm x y', 'no'],
    ['bash(rm x)', 'env rm x', 'yes'],
    ['bash(rm x)', 'env rm x y', 'no'],
    ['bash(rm x)', 'rm', 'no'],
    ['bash(rm x:*)', 'rm $X', 'maybe'],
    ['bash(rm x:*)', 'rm y', 'no'],
    ['bash(git push:*)', 'git push', 'yes'],
    ['bash(git push:*)', 'git -c a=b push', 'yes'],
    ['bash(git push:*)', 'git -c a=b -q push x', 'yes'],
    ['bash(git push:*)', 'git pull push', 'no'],
    ['bash(git push:*)', 'git -c a b push', 'no'],
    ['bash(git push:*)', 'git', 'no'],
    ['bash(git push:*)', 'git -q', 'no'],
    ['bash(git push:*)', 'git $X', 'maybe'],
    ['bash(git push:*)', 'git -c $X push', 'maybe'],
    ['bash(git push:*)', 'git "$X" push', 'maybe'],
    ['bash(git push origin:*)', 'git push -f origin', 'yes'],
    ['bash(git push origin:*)', 'git push $X', 'maybe'],
    ['bash(git push --force:*)', 'git push $X', 'maybe'],
    ['bash(git push origin:*)', 'git $X', 'maybe'],
    ['bash(git push origin:*)', 'git "x$X"', 'no'],
    ['bash(git push origin:*)', 'git push', 'no'],
    ['bash(git push origin:*)', 'git -- push -q origin x', 'yes'],
    ['bash(git push:*)', 'git /bin/push', 'no'],
    ['bash(git -c:*)', 'git -q -c a=b push', 'yes'],
    ['bash(git push:*)', 'git-push x', 'yes'],
    ['bash(git push:*)', '/usr/lib/git-core/git-push', 'yes'],
    ['bash(git push:*)', 'git-pull', 'no'],
    ['bash(git-push:*)', 'git-push', 'yes'],
    ['bash(hg fetch:*)', 'git pull', 'no'],
    ['bash(git fetch:*)', 'hg pull', 'no'],
    ['bash(git push:*)', 'git pull', 'no'],
  ])('%s matches %j: %s', async (rule, command, match) => {
    expect([command, matchCommand(await ruleOf(rule), await partOf(command))]).toEqual([command, match]);
  });
});
