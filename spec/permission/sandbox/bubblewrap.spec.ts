import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { bubblewrapOptions } from '../../../lib/permission/sandbox/bubblewrap.js';
import { type Confinement, NotConfinable } from '../../../lib/permission/sandbox/confinement.js';

let root: string;
let empty: string;
beforeEach(() => {
  // Not below /tmp, which is empty for each command.
  root = realpathSync(mkdtempSync(join(homedir(), '.hi-bubblewrap-')));
  empty = join(root, 'empty');
  for (const path of ['a/b', 'secrets/deep', '.git/hooks']) mkdirSync(join(root, path), { recursive: true });
  for (const path of ['a/.env', 'secrets/deep/key', '.envrc', 'empty', 'a/b/run.sh'])
    writeFileSync(join(root, path), '');
});
afterEach(() => rmSync(root, { recursive: true }));

const at = (path: string): string => join(root, path);

/** The mounts that a command gets beside those of every one, in order: what, from where and to where. */
function mounts(more: Partial<Confinement>, grant: Partial<Confinement['grant']> = {}): readonly string[] {
  const options = bubblewrapOptions({
    ...{ root, folder: root, hidden: [], readable: [], runsLater: [], missing: [], replaced: [] },
    ...{ emptyFile: empty, temporary: '/tmp' },
    ...more,
    grant: { write: false, network: false, files: [], ...grant },
  });
  const found: string[] = [];
  for (let index = 0; index < options.length; ) {
    const option = options[index] ?? '';
    const count =
      /^--(ro-)?bind$/.test(option) || option === '--setenv'
        ? 2
        : /^--(tmpfs|dev|proc|chdir|cap-drop|remount-ro)$/.test(option)
          ? 1
          : 0;
    const [from = '', to = from] = options.slice(index + 1, index + 1 + count);
    if (/bind/.test(option)) expect([from, existsSync(from)]).toEqual([from, true]);
    found.push(
      [option.slice(2), ...(from === to ? [from] : [from, to]).filter(Boolean)].join(' ').replaceAll(root, '~'),
    );
    index += 1 + count;
  }
  return found;
}

const own = (all: readonly string[]): readonly string[] => all.filter((one) => one.includes('~'));

describe('the sandbox of bubblewrap', () => {
  it('shows the working folder and lets nothing be written, nor any network be reached', () => {
    const all = mounts({});
    expect(own(all)).toEqual(['ro-bind ~', 'chdir ~']);
    for (const one of ['ro-bind /', 'tmpfs /tmp', 'unshare-net', 'unshare-pid', 'cap-drop ALL', 'setenv TMPDIR /tmp'])
      expect(all).toContain(one);
    expect(all.filter((one) => one.startsWith('tmpfs')).every((one) => existsSync(one.slice(6)))).toBe(true);
  });

  it('lets be written and reached what is granted, and that alone', () => {
    expect(mounts({}, { network: true })).not.toContain('unshare-net');
    expect(own(mounts({}, { write: true }))).toEqual(['bind ~', 'chdir ~']);
    const files = [at('a/.env'), at('a/new'), at('gone/new')];
    expect(own(mounts({ folder: at('a') }, { files }))).toEqual([
      'ro-bind ~',
      'bind ~/a/.env',
      'bind ~/a',
      'chdir ~/a',
    ]);
  });

  it('hides folders and files, each once, and shows what may be read in them', () => {
    const hidden = [at('secrets/deep'), at('secrets'), at('a/.env'), at('gone'), root];
    const readable = [at('secrets/deep/key'), at('gone/key')];
    const replaced = [{ path: at('.envrc'), by: at('a/b/run.sh') }];
    expect(own(mounts({ hidden, readable, replaced }))).toEqual([
      'ro-bind ~',
      'ro-bind ~/empty ~/a/.env',
      'tmpfs ~/secrets',
      'ro-bind ~/a/b/run.sh ~/.envrc',
      'ro-bind ~/secrets/deep/key',
      'chdir ~',
    ]);
    expect(mounts({ hidden: ['/tmp', dirname(root)] }).filter((one) => one === 'tmpfs /tmp')).toHaveLength(1);
  });

  it('keeps what runs something later, and the way to it, in the place where it is', () => {
    const runsLater = [at('a/b/run.sh'), at('.git/hooks'), at('.git'), '/elsewhere'];
    const missing = [at('a/b/.git'), at('.npmrc')];
    expect(own(mounts({ runsLater, missing }, { write: true }))).toEqual([
      ...['bind ~', 'bind ~/a', 'bind ~/a/b', 'ro-bind ~/.git', 'ro-bind ~/a/b/run.sh'],
      ...['tmpfs ~/a/b/.git', 'remount-ro ~/a/b/.git', 'ro-bind ~/empty ~/.npmrc', 'chdir ~'],
    ]);
    expect(own(mounts({ runsLater, missing }))).toEqual(['ro-bind ~', 'chdir ~']);
  });

  it('refuses what it cannot protect: a link, and more places than there may be', () => {
    symlinkSync('a', at('link'));
    expect(() => mounts({ runsLater: [at('link')] }, { write: true })).toThrow(NotConfinable);
    expect(() => mounts({ runsLater: [at('link')] }, { write: true })).toThrow('which is a symbolic link');
    mkdirSync(at('many'));
    const hidden = Array.from({ length: 3100 }, (_, number) => at(`many/${number}`));
    for (const path of hidden) writeFileSync(path, '');
    expect(() => mounts({ hidden })).toThrow('more private files than the sandbox can hide one by one');
    expect(mounts({ hidden: hidden.slice(0, 2900) }).length).toBeGreaterThan(2900);
  });
});
