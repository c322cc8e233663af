import { describe, expect, it } from '@jest/globals';
import { suggestCommandRule } from '../../../lib/permission/rules/command-rules.js';
import { readCommand } from '../../../lib/permission/shell/read-command.js';

const suggested = async (command: string): Promise<string | null> =>
  suggestCommandRule('run', command, (await readCommand(command, {})).parts);

describe('the rule that "always" stores', () => {
  it.each([
    ...'ls cat head tail wc grep egrep fgrep stat du df pwd whoami uname id which basename dirname realpath readlink'.split(
      ' ',
    ),
    ...'diff cmp cut tr nl tac md5sum sha1sum sha256sum jq test echo'.split(' '),
    ...[
      'git status',
      'git log',
      'git diff',
      'git show',
      'git blame',
      'git shortlog',
      'git ls-files',
      'git ls-tree',
      'git rev-parse',
    ],
    ...[
      'git rev-list',
      'git describe',
      'git stash list',
      'git stash show',
      'git reflog show',
      'git tag --list',
      'git worktree list',
    ],
  ])('covers any arguments of %s', async (prefix) => {
    expect(await suggested(prefix)).toBe(`run(${prefix}:*)`);
    expect(await suggested(`  ${prefix} a b c`)).toBe(`run(${prefix}:*)`);
    expect(await suggested(`${prefix}x a`)).toBe(`run(${prefix}x a)`);
    expect(await suggested(`/bin/${prefix} a`)).toBe(`run(/bin/${prefix} a)`);
    expect(await suggested(`A=1 ${prefix} a`)).toBe(`run(A=1 ${prefix} a)`);
    expect(await suggested(`${prefix} a; ${prefix} b`)).toBe(`run(${prefix} a; ${prefix} b)`);
  });

  it.each([
    ...[
      'find . -name x',
      'sed p x',
      'git stash',
      'git tag -d x',
      'git x log',
      'make test',
      'env ls a',
      'git log --output=x',
    ],
    ...['git worktree', 'echo a > b'],
  ])('covers exactly %s', async (command) => {
    expect(await suggested(` ${command} `)).toBe(`run(${command})`);
  });

  it('does not exist if it would not apply the next time, or to too much', async () => {
    const exact = `make ${'x'.repeat(195)}`;
    expect([await suggested(exact), await suggested(`${exact}y`)]).toEqual([`run(${exact})`, null]);
    for (const command of [
      'make a\nmake b',
      'make \u0007',
      'make a:*',
      '*',
      '$x',
      'make $((x))',
      'eval "$x"',
      'make "',
    ])
      expect([command, await suggested(command)]).toEqual([command, null]);
    expect(suggestCommandRule('run', 'make', [])).toBe('run(make)');
  });
});
