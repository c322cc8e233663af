import { describe, expect, it } from '@jest/globals';
import { commandRules } from '../../../lib/permission/rules/command-rules.js';
import { matchingRule, mayHide } from '../../../lib/permission/rules/denial.js';
import { readRules } from '../../../lib/permission/rules/rules.js';
import { readCommand } from '../../../lib/permission/shell/read-command.js';
import { tools } from '../../../lib/tools/index.js';

/** What the rules say to a command: the first rule that certainly matches, `maybe` before one that may, or nothing. */
async function found(denied: readonly string[], command: string): Promise<string> {
  const deny = denied.map((text) => `bash(${text})`);
  const rules = await commandRules(readRules({ allow: [], ask: [], deny }, tools, '/nowhere').deny);
  const match = matchingRule(rules, command, (await readCommand(command, {})).parts);
  if (match === null) return '';
  return `${match.isCertain ? '' : 'maybe '}${match.source.slice(5, -1)}`;
}

describe('the rule that denies a command', () => {
  it.each([
    ['rm x', 'rm:*'],
    ['ls && rm x', 'rm:*'],
    ['ls > x', ''],
    ['ls | cat', ''],
    // A copy of the program, or a link to it.
    ['ls /bin/rm', 'maybe rm:*'],
    ['ls x/rm', ''],
    ['ls ./rm', ''],
    ['ls /bin/rmdir', ''],
    ['ls /bin/rm/x', ''],
    // Known programs run nothing that they are given.
    ['echo rm x', ''],
    ['grep rm x', ''],
    ['tar cf rm x', ''],
    // Others may run it, as one word or as several, quoted or not.
    ['setpriv rm x', 'maybe rm:*'],
    ["sg root 'rm x'", 'maybe rm:*'],
    ["sg root 'r\\m x'", 'maybe rm:*'],
    ['sg root \'r"m" x\'', 'maybe rm:*'],
    ["sg root 'ls;rm x'", 'maybe rm:*'],
    ["sg root 'ls x.rm'", 'maybe rm:*'],
    ["sg root $'\\x72m x'", 'maybe rm:*'],
    ['sg root "rm $X"', 'maybe rm:*'],
    ['sg root $X', ''],
    ['sg rm', 'maybe rm:*'],
    ['x.rm y', ''],
    ["sg root 'rm-x'", ''],
    ["sg root 'x-rm'", ''],
    ["sg root 'farm'", ''],
    ["sg root 'rmx'", ''],
    ["sg root 'farm; rm'", 'maybe rm:*'],
    // As `git-push` is `git push`.
    ['rm-all x', 'rm:*'],
    ['sg root <<< rm', 'maybe rm:*'],
  ])('is found: %s: %s', async (command, expected) => {
    expect([command, await found(['rm:*'], command)]).toEqual([command, expected]);
  });

  it.each([
    ['sg root "git push"', 'maybe git push:*'],
    ['sg root "git -q push"', 'maybe git push:*'],
    ['sg root "git pull; x push"', 'maybe git push:*'],
    ['sg root "git pushed"', ''],
    ['sg root "git"', ''],
    ['sg root "push"', ''],
    ['git $X', 'maybe git push:*'],
    ['setpriv git push', 'maybe git push:*'],
  ])('is found where all its words are there, in their order: %s: %s', async (command, expected) => {
    expect([command, await found(['git push:*'], command)]).toEqual([command, expected]);
  });

  it('is the first that certainly matches, or else the first that may', async () => {
    const line = 'sg root "a b c"; c';
    expect(await found(['a:*', 'b:*'], line)).toBe('maybe a:*');
    expect(await found(['b:*', 'a:*', 'x:*'], line)).toBe('maybe b:*');
    expect(await found(['a:*', 'c:*', 'b:*'], line)).toBe('c:*');
    expect(await found(['a:*', line], line)).toBe(line);
    expect(await found(['x:*', '/bin/a:*'], line)).toBe('maybe /bin/a:*');
    expect(await found(['a; b'], 'sg root "a b"')).toBe('');
    expect(await found([], line)).toBe('');
  });
});

describe('a command that may run others which the text does not show', () => {
  it.each([
    ['ls', false],
    ['ls $X', false],
    ['X=1 ls', false],
    ['GIT_PAGER=x git log', true],
    ['X="a b" ls', true],
    ['eval $X', true],
    ['$X', true],
    ['python3', true],
    ['python3 x.py', false],
    ['python3 x.py <<< y', true],
    ['env ls', false],
    ['cat <<< x', false],
    // A program that may run anything and reads its input.
    ['prog', false],
    ['prog <<< x', true],
    ['prog <<E\nx\nE', true],
    ['prog -', true],
    ['prog -f -', true],
    ['prog -f-', true],
    ['prog --file=-', true],
    ['prog --in-put=/dev/stdin', true],
    ['prog /dev/stdin', true],
    ['prog /dev/fd/0', true],
    ['prog /dev/fd/10', true],
    ['prog /proc/self/fd/0', true],
    ['prog /proc/self/fd/12', true],
    ['prog /dev/fd/x', false],
    ['prog /dev/fd/', false],
    ['prog /proc/self/fd/x', false],
    ['prog x-', false],
    ['prog x/dev/stdin', false],
    ['prog /dev/stdin/x', false],
    ['prog /dev/null', false],
    ['prog -ff-', false],
    ['prog --=-', false],
    ['prog -- x', false],
    ['ls -', false],
    ["bash -c 'ls | cat'", false],
  ])('%j: %s', async (command, expected) => {
    const { parts } = await readCommand(command, {});
    expect([command, parts.some(mayHide)]).toEqual([command, expected]);
  });

  it('is syntax that may, but no file of a redirection', () => {
    const unclear = { kind: 'unclear', text: 'x', reason: 'it is unclear' } as const;
    expect([true, false].map((mayHideCommands) => mayHide({ ...unclear, mayHideCommands }))).toEqual([true, false]);
    expect(mayHide({ kind: 'file', text: 'x', use: 'read', path: 'x' })).toBe(false);
  });
});
