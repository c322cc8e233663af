import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { gitPlaces, isNamedByGit } from '../../../lib/permission/paths/git-places.js';

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
  const { existing, missing } = gitPlaces([join(root, git)], root);
  const short = (paths: readonly string[]) =>
    paths
      .map((path) => path.slice(root.length + 1))
      .filter((path) => path !== git)
      .sort();
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

  it.each(['hooksPath', 'HooksPath', 'path', 'attributesFile', 'templateDir'])(
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

  it('are relative to the working tree that settings name too, which is no such place itself', () => {
    make('tree/hooks/pre-commit');
    make('.git/config', '[core]\n\tworktree = ../tree\n\thooksPath = hooks\n');
    expect(places()).toEqual([['tree/hooks'], ['hooks']]);
  });

  it.each([
    ['[core] hooksPath = tools/hooks', ['tools/hooks']],
    ['[includeIf "gitdir:~/a]b"] path = ../one', ['one']],
    ['[core]\n\thooksPath = my hooks/all # for me', ['my hooks/all']],
    ['[core]\n\thooksPath = "my ho\\\noks"/all', ['my hooks/all']],
    ['[core]\n\thooksPath = "semi;\\"quote"', ['semi;"quote']],
  ])('are found however git lets them be written: %j', (text, expected) => {
    for (const path of ['tools/hooks/x', 'one', 'my hooks/all/x', 'semi;"quote/x']) make(path);
    make('.git/config', `${text}\n`);
    expect(places()).toEqual([expected, []]);
  });

  it.each([
    ['[init]\n\tdefaultBranch = main'],
    ['[safe]\n\tdirectory = ROOT/main\n[maintenance]\n\trepo = ROOT/main'],
    ['[remote "o"]\n\turl = ../main\n[alias]\n\tx = !git -C . fetch && cd .. && cd ROOT'],
    ['[submodule "main"]\n\turl = ./main'],
  ])('is no folder that a setting names without running anything in it: %j', (text) => {
    make('main/a');
    make('.git/config', `${text.replaceAll('ROOT', root)}\n`);
    expect(places()).toEqual([[], []]);
  });

  it('are all in a folder of hooks, the working folder itself included', () => {
    make('.git/config', '[core]\n\thooksPath = .\n');
    expect(gitPlaces([join(root, '.git')], root).existing).toContain(root);
    expect(gitPlaces([join(root, '.git')], join(root, 'sub')).existing).toContain(join(root, 'sub'));
  });

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
    const { existing, missing } = gitPlaces([join(root, 'sub/.git')], join(root, 'sub'));
    expect([existing, missing]).toEqual([[join(root, 'sub/.git')], []]);
  });
});

describe('a file that is written', () => {
  const named = async (path: string, folder = root): Promise<boolean> =>
    isNamedByGit([join(root, path)], folder, undefined);

  it('is run by git if the settings of a repository around it or beside it name it', async () => {
    make('a/.git/config', '[core]\n\thooksPath = ../hooks\n[include]\n\tpath = ../../missing/git.inc\n');
    for (const path of ['hooks/x', 'hooks', 'missing/git.inc', 'a/.git/config'])
      expect([path, await named(path)]).toEqual([path, true]);
    for (const path of ['a/x', 'missing/other', 'hooksx', 'b/hooks/x'])
      expect([path, await named(path)]).toEqual([path, false]);
    expect([await named('hooks/x', join(root, 'a')), await named('hooks/x', join(root, 'b'))]).toEqual([true, false]);
    make('.git/config', '[core]\n\thooksPath = b/hooks\n');
    expect([await named('b/hooks/x', join(root, 'b')), await named('b/x', join(root, 'b'))]).toEqual([true, false]);
  });
});
