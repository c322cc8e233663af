import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { holdsLogin, loginFilesOf, repositoriesOf, withoutLogins } from '../../../lib/permission/paths/git-logins.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-git-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function make(path: string, text: string): string {
  const full = join(folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

const remote = (user: string) => `[remote "origin"]\n\turl = https://${user}github.com/a/b\n\tfetch = +refs/*\n`;

describe('the settings of git', () => {
  it.each([
    [remote('me:s3cretword@'), remote('me:@')],
    [remote('0123456789abcdef0123456789abcdef01234567@'), remote('@')],
    [
      '[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic abc\n',
      '[http "https://github.com/"]\n\textraheader =\n',
    ],
    ['[sendemail]\n smtpPass = abc\n[github]\n token=abc', '[sendemail]\n smtpPass =\n[github]\n token='],
    ['[credential]\n helper = "!f() { echo username=a; echo password=abc; }; f"', '[credential]\n helper ='],
  ])('are shown without credentials: %j', (text, shown) => {
    expect(withoutLogins(text)).toBe(shown);
    expect(withoutLogins(shown)).toBe(shown);
  });

  it.each([
    remote(''),
    remote('me@'),
    '[url "git@github.com:"]\n insteadOf = https://github.com/',
    '[credential]\n helper = store\n[http]\n sslCertPasswordProtected = true',
  ])('are shown unchanged if they contain none: %j', (text) => {
    expect(withoutLogins(text)).toBe(text);
  });

  it('are read again if they changed', () => {
    const path = make('.git/config', remote(''));
    expect(holdsLogin(path)).toBe(false);
    make('.git/config', remote('me:s3cretword@'));
    expect(holdsLogin(path)).toBe(true);
    rmSync(path);
    expect(holdsLogin(path)).toBe(false);
  });

  it('are found in submodules and worktrees, and in a repository that a file names', () => {
    const paths = ['config', 'modules/a/config', 'modules/b/c/config', 'worktrees/w/config.worktree'].map((name) =>
      make(`main/.git/${name}`, remote('me:s3cretword@')),
    );
    make('main/.git/modules/d/config', remote(''));
    expect(loginFilesOf(join(folder, 'main/.git'))).toEqual(expect.arrayContaining(paths));
    expect(loginFilesOf(join(folder, 'main/.git'))).toHaveLength(paths.length);
    make('main/.git/worktrees/w/commondir', '../..\n');
    const git = make('tree/.git', `gitdir: ${folder}/main/.git/worktrees/w\n`);
    expect(repositoriesOf(git)).toEqual([join(folder, 'main/.git/worktrees/w'), join(folder, 'main/.git')]);
  });
});
