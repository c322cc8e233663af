import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { gitPlaces } from '../../../lib/permission/sandbox/git-places.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hi-git-places-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function make(path: string, text = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The places beside `.git`, relative to the root: those that exist, and those that are missing. */
function places(git = '.git'): readonly [existing: readonly string[], missing: readonly string[]] {
  const { existing, missing } = gitPlaces(join(root, git), root);
  const short = (paths: readonly string[]) => paths.map((path) => path.slice(root.length + 1)).sort();
  return [short(existing), short(missing)];
}

describe('files outside .git that git runs', () => {
  it('do not exist if its settings name no file of the project', () => {
    make('.git/config', '[core]\n\tbare = false\n[remote "o"]\n\turl = https://host/x\n\tfetch = +refs/*\n');
    make('.git/hooks/x');
    expect(places()).toEqual([[], []]);
    rmSync(join(root, '.git'), { recursive: true });
    expect(places()).toEqual([[], []]);
  });

  it.each([
    ['[core]\n\thooksPath = tools/hooks\n', ['tools/hooks']],
    ['[core]\n\thooksPath = "tools/hooks"\n', ['tools/hooks']],
    ['[filter "x"]\n\tclean = ./tools/clean --all\n', ['tools/clean']],
    ["[alias]\n\tx = !./tools/clean; tools/hooks|cat 'tools/x'\n", ['tools/clean', 'tools/hooks', 'tools/x']],
    ['[alias]\n\tx = !f() { tools/clean&tools/x; }\n', ['tools/clean', 'tools/x']],
    ['[core]\n\tpager = -tools/clean ~tools/x\n', []],
    ['[core]\n\tpager = gone/x\n', []],
    ['[x]\n\t\ta  =  ./tools/clean;;  "./tools/x"\n', ['tools/clean', 'tools/x']],
    ['[x]\na=tools/-x ./tools/x~\n', ['tools/-x', 'tools/x~']],
    ['tools/clean\n', []],
    ['[core "tools/clean"]\n', []],
    ['; x tools/clean = tools/x\n', []],
    ['[core]\n  editor=tools/x\n', ['tools/x']],
  ])('are existing files that its settings name: %j', (text, expected) => {
    for (const name of ['clean', 'x', '-x', 'x~', 'hooks/pre-commit']) make(`tools/${name}`);
    for (const config of ['config', 'config.worktree']) {
      make(`.git/${config}`, text);
      expect([config, places()]).toEqual([config, [expected, []]]);
      rmSync(join(root, '.git', config));
    }
  });

  it.each(['hooksPath', 'HooksPath', 'path', 'worktree', 'attributesFile', 'templateDir'])(
    'is what %s names, there or not',
    (name) => {
      make('.git/config', `[x]\n\t${name} = a/b/c\n`);
      // A stand-in for the outermost missing folder keeps all below it from being made.
      expect(places()).toEqual([[], ['a']]);
      make('a/other');
      expect(places()).toEqual([[], ['a/b']]);
      make('.git/config', `[x]\n  \t${name}=a/b/c\n`);
      expect(places()).toEqual([[], ['a/b']]);
      make('.git/config', `[x]\n\tx${name} = a/b/c\n\t${name}x = a/b/c\n`);
      expect(places()).toEqual([[], []]);
    },
  );

  it('are those that included settings name, up to five levels deep', () => {
    make('.git/config', '[include]\n\tpath = ../one\n');
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    for (const [index, name] of names.entries()) make(name, `[include]\n\tpath = ${names[index + 1] ?? 'end'}\n`);
    make('end');
    expect(places()).toEqual([['five', 'four', 'one', 'three', 'two'], []]);
    make('one', '[include]\n\tpath = one\n');
    expect(places()).toEqual([['one'], []]);
  });

  it('include what other settings name, but not what those files name', () => {
    make('.git/config', '[core]\n\teditor = ./one\n');
    make('one', '[include]\n\tpath = two\n');
    make('two');
    expect(places()).toEqual([['one'], []]);
  });

  it('are not read from very large settings, nor from a folder in their place', () => {
    make('x');
    make('.git/config', `[core]\n\teditor = ./x\n${'#\n'.repeat(500_000)}`);
    expect(places()).toEqual([[], []]);
    rmSync(join(root, '.git/config'));
    make('.git/config/x', '[core]\n\teditor = ./x\n');
    expect(places()).toEqual([[], []]);
  });

  it('include the repository that a file names, with what it shares, and the targets of links', () => {
    make('deep/repository/hooks/x');
    make('deep/repository/commondir', '../shared\n');
    make('deep/shared/config', '[core]\n\teditor = ../x\n');
    make('deep/x');
    make('real/hooks');
    symlinkSync(join(root, 'real'), join(root, 'deep/repository/info'));
    make('tree/.git', 'gitdir: ../deep/repository\n');
    const existing = ['deep/repository', 'deep/repository/hooks', 'deep/shared', 'deep/x', 'real'];
    expect(places('tree/.git')).toEqual([existing, []]);
  });

  it('are only those in the project', () => {
    make('sub/.git/config', '[core]\n\thooksPath = ../../outside\n\teditor = /bin/sh\n');
    const { existing, missing } = gitPlaces(join(root, 'sub/.git'), join(root, 'sub'));
    expect([existing, missing]).toEqual([[], []]);
  });
});
