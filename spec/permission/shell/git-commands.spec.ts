import { describe, expect, it } from '@jest/globals';
import { alsoDoes, mayDoOthersWork } from '../../../lib/permission/shell/git-commands.js';
import { commandOf } from '../../support/command-parts.js';

const wordsOf = async (line: string) => (await commandOf(line)).words;

describe('a git command', () => {
  it.each([
    ...['add', 'bisect', 'blame', 'checkout', 'clone', 'commit', 'config', 'describe', 'diff', 'fetch', 'grep', 'init'],
    ...[
      'log',
      'ls-files',
      'merge',
      'mv',
      'pull',
      'push',
      'rebase',
      'remote',
      'reset',
      'rev-parse',
      'rm',
      'show',
      'stage',
    ],
    ...['stash', 'status', 'submodule', 'switch', 'tag', 'worktree', 'clone --depth 1', 'clone a-u', 'fetch -u'],
    ...['', '--version', '--no-pager', '--no-pager log'],
  ])('only does its own work: git %s', async (rest) => {
    expect(mayDoOthersWork(await wordsOf(`git ${rest}`))).toBe(false);
  });

  it.each([
    'lg',
    'send-pack',
    'subtree push',
    'svn dcommit',
    'lfs',
    '$x',
    '--no-pager lg',
    'clone -u x',
    'clone -qu x',
  ])('may do the work of another: git %s', async (rest) => {
    expect(mayDoOthersWork(await wordsOf(`git ${rest}`))).toBe(true);
  });

  it.each(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--config-env'])(
    'is the word after the value of %s',
    async (option) => {
      expect(mayDoOthersWork(await wordsOf(`git ${option} lg status`))).toBe(false);
      expect(mayDoOthersWork(await wordsOf(`git ${option} status lg`))).toBe(true);
      expect(mayDoOthersWork(await wordsOf(`git ${option} ${option} status`))).toBe(false);
      expect(alsoDoes(await wordsOf(`git ${option} log pull`), 'merge')).toBe(true);
    },
  );

  it.each([
    ['am', 'commit apply'],
    ['cherry-pick', 'commit'],
    ['clone', 'fetch checkout'],
    ['merge', 'commit'],
    ['pull', 'fetch merge rebase commit'],
    ['rebase', 'commit checkout reset'],
    ['remote', 'fetch'],
    ['restore', 'checkout'],
    ['revert', 'commit'],
    ['stage', 'add'],
    ['switch', 'checkout'],
    ['whatchanged', 'log'],
    ['status', ''],
    ['constructor', ''],
    ['', ''],
  ])('also does the work of others: git %s', async (name, others) => {
    const all = 'add apply checkout commit fetch log merge push rebase reset status'.split(' ');
    const words = await wordsOf(`git ${name}`);
    expect(all.filter((one) => alsoDoes(words, one)).sort()).toEqual(others.split(' ').filter(Boolean).sort());
  });
});
