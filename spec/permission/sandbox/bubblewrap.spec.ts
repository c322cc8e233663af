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
function mounts(
  more: Partial<Confinement>,
  grant: Partial<Confinement['grant']> = {},
  isThere = true,
): readonly string[] {
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
    if (/bind/.test(option) && isThere) expect([from, existsSync(from)]).toEqual([from, true]);
    found.push(
      [option.slice(2), ...(from === to ? [from] : [from, to]).filter(Boolean)].join(' ').replaceAll(root, '~'),
    );
    index += 1 + count;
  }
  return found;
}

/** Why there is no sandbox for a command that may write. */
function refusal(more: Partial<Confinement>) {
  try {
    mounts(more, { write: true });
  } catch (failure) {
    if (!(failure instanceof NotConfinable)) throw failure;
    const { code, message, hint, reason } = failure;
    return { code, message, hint, reason };
  }
  return null;
}

const own = (all: readonly string[]): readonly string[] => all.filter((one) => one.includes('~'));

describe('the sandbox of bubblewrap', () => {
  it('shows the working folder read-only, without network', () => {
    const there = (kind: string, paths: readonly string[]) =>
      paths.filter((path) => existsSync(path)).map((path) => `${kind} ${path}`);
    expect(mounts({})).toEqual([
      ...['die-with-parent', 'unshare-pid', 'unshare-ipc', 'unshare-uts', 'unshare-net', 'cap-drop ALL'],
      ...['ro-bind /', 'dev /dev', 'proc /proc'],
      ...there('ro-bind', ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs']),
      ...there('tmpfs', ['/tmp', '/var/tmp', '/run']),
      ...['ro-bind ~', 'setenv TMPDIR /tmp', 'chdir ~'],
    ]);
  });

  it('makes writable and reachable only what is granted', () => {
    const resolver = '/run/systemd/resolve';
    const networked = mounts({}).flatMap((one) => {
      if (one === 'unshare-net') return [];
      return one === 'tmpfs /run' && existsSync(resolver) ? [one, `ro-bind ${resolver}`] : [one];
    });
    expect(mounts({}, { network: true })).toEqual(networked);
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
    // Before the working folder, which lies in it; what is empty for each command is not hidden again.
    const all = mounts({ hidden: ['/tmp', '/tmp/x', '/var/tmp', dirname(root), '/usr'] });
    const hiding = all.filter((one) => /^tmpfs/.test(one) && !/ \/(?:tmp|var\/tmp|run)$/.test(one));
    expect(hiding).toEqual([dirname(root), '/usr'].sort().map((path) => `tmpfs ${path}`));
    for (const one of hiding) expect(all.indexOf(one)).toBeLessThan(all.indexOf('ro-bind ~'));
  });

  it('protects files that run later, and the folders above them', () => {
    const runsLater = [at('a/b/run.sh'), at('.git/hooks'), at('.git'), '/elsewhere'];
    const missing = [at('a/b/.git'), at('.npmrc')];
    expect(own(mounts({ runsLater, missing }, { write: true }))).toEqual([
      ...['bind ~', 'bind ~/a', 'bind ~/a/b', 'ro-bind ~/.git', 'ro-bind ~/a/b/run.sh'],
      ...['tmpfs ~/a/b/.git', 'remount-ro ~/a/b/.git', 'ro-bind ~/empty ~/.npmrc', 'chdir ~'],
    ]);
    expect(own(mounts({ runsLater, missing }))).toEqual(['ro-bind ~', 'chdir ~']);
    // The working folder itself stays writable. A folder above what is missing may be gone by now.
    expect(own(mounts({ runsLater: [root], missing: [at('gone/x')] }, { write: true }))).toEqual([
      'bind ~',
      'ro-bind ~/empty ~/gone/x',
      'chdir ~',
    ]);
    expect(own(mounts({ runsLater: [at('z/x'), at('a/b/run.sh')] }, { write: true }, false))).toEqual([
      ...['bind ~', 'bind ~/a', 'bind ~/a/b', 'ro-bind ~/a/b/run.sh', 'ro-bind ~/z/x', 'chdir ~'],
    ]);
  });

  it('refuses what it cannot protect: a link, and too many places', () => {
    symlinkSync('a', at('link'));
    expect(() => mounts({ runsLater: [at('link')] }, { write: true })).toThrow(NotConfinable);
    expect(refusal({ runsLater: [at('link')] })).toEqual({
      code: 'config',
      message: `Not run: the sandbox cannot protect '${at('link')}', which is a symbolic link.`,
      hint: "Put the folder itself there (for .git, also a file that says 'gitdir: FOLDER'), or run the command with approval.",
      reason: `the sandbox cannot protect '${at('link')}', which is a symbolic link; put the folder itself there (for .git, also a file that says 'gitdir: FOLDER'), or run the command with approval`,
    });
    mkdirSync(at('many'));
    const hidden = Array.from({ length: 3100 }, (_, number) => at(`many/${number}`));
    for (const path of hidden) writeFileSync(path, '');
    expect(refusal({ hidden })).toMatchObject({
      message: `Not run: '${root}' and the home folder have more private files than the sandbox can hide one by one.`,
      hint: 'Start hi in one of its folders.',
    });
    expect(mounts({ hidden: hidden.slice(0, 2900) }).length).toBeGreaterThan(2900);
  });
});
