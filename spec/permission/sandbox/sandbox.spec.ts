import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readRules } from '../../../lib/permission/rules/rules.js';
import { NotConfinable } from '../../../lib/permission/sandbox/confinement.js';
import { replacementFile } from '../../../lib/permission/sandbox/replacement-file.js';
import { Sandbox, type SandboxOptions } from '../../../lib/permission/sandbox/sandbox.js';
import { sandboxKind, sandboxProblem } from '../../../lib/permission/sandbox/sandbox-kind.js';
import { tools } from '../../../lib/tools/index.js';
import { asNobody } from '../../support/nobody.js';

const { PATH = '' } = process.env;
const { platform } = process;
let top: string;
let root: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'hi-sandbox-')));
  chmodSync(top, 0o755);
  root = join(top, 'work');
  mkdirSync(root);
  programs('exit 0');
});
afterEach(() => {
  process.env.PATH = PATH;
  Object.defineProperty(process, 'platform', { value: platform });
  rmSync(top, { recursive: true });
});

/**
 * Only these programs are found: in the place of those that sandbox commands, a script. They are asked once for each
 * PATH.
 */
function programs(script: string | null): void {
  const folder = mkdtempSync(join(top, 'bin-'));
  chmodSync(folder, 0o755);
  for (const name of script === null ? [] : ['bwrap', 'sandbox-exec'])
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  process.env.PATH = folder;
}

function on(system: NodeJS.Platform): void {
  Object.defineProperty(process, 'platform', { value: system });
}

const at = (path: string): string => join(root, path);

function make(path: string, text = ''): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  return at(path);
}

const sandbox = (options: Partial<SandboxOptions> = {}): Sandbox =>
  new Sandbox({
    ...{ root, ownPlaces: [], freeFolders: [], env: {}, rules: () => rulesOf([]) },
    fileOf: (text) => replacementFile(join(top, 'spill'), text),
    ...options,
  });

const rulesOf = (deny: readonly string[]) => readRules({ allow: [], ask: [], deny }, tools, root);

const GRANT = { write: false, network: false, files: [], read: [] };
const WRITE = { ...GRANT, write: true };

/** What follows this option in the wrapper, each time. */
const valuesOf = (wrapper: readonly string[], option: string, count = 1): readonly string[] =>
  wrapper.flatMap((word, index) => (word === option ? [wrapper.slice(index + 1, index + 1 + count).join(' ')] : []));

async function refusal(run: Promise<unknown>) {
  const failure: unknown = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(failure instanceof NotConfinable)) throw failure;
  return { message: failure.message, hint: failure.hint, reason: failure.reason };
}

describe('the program that sandboxes commands', () => {
  it.each([
    ['linux', 'bubblewrap'],
    ['darwin', 'seatbelt'],
  ] as const)('is that of the system: %s', async (system, kind) => {
    on(system);
    expect([await sandboxProblem(), await sandboxKind()]).toEqual([null, kind]);
  });

  it('is none on Windows', async () => {
    on('win32');
    expect([await sandboxProblem(), await sandboxKind()]).toEqual(['hi has no sandbox for Windows', null]);
  });

  it.each([
    ['linux', null, 'bubblewrap cannot be used here: it is not installed'],
    ['darwin', null, 'sandbox-exec cannot be used here: it is not installed'],
    ['linux', 'echo " no namespaces " >&2; exit 1', 'bubblewrap cannot be used here: no namespaces'],
    [
      'darwin',
      'exit 3',
      expect.stringMatching(/^sandbox-exec cannot be used here: Command failed: \/\S+\/sandbox-exec -p /),
    ],
  ] as const)('is tried on %s: %s', async (system, script, problem) => {
    on(system);
    programs(script);
    expect([await sandboxProblem(), await sandboxKind()]).toEqual([problem, null]);
    expect(await refusal(sandbox().confine(GRANT, root))).toMatchObject({
      message: expect.stringMatching(/^Not run: tools\.sandbox is on, but \S+ cannot be used here: .*\.$/s),
      hint: expect.stringMatching(/^The user can do this: .*tools\.sandbox to false\.$/),
    });
  });

  it('is tried with what it will be asked for, and once', async () => {
    const log = join(top, 'log');
    programs(`echo "$@" >> ${log}`);
    for (let count = 0; count < 3; count += 1) expect(await sandboxProblem()).toBeNull();
    expect(readFileSync(log, 'utf8')).toMatch(/^--die-with-parent .* --proc \/proc -- \/bin\/sh -c :\n$/);
    on('darwin');
    programs(`echo "$1" "$3" "$4" "$5" >> ${log}.2`);
    for (let count = 0; count < 3; count += 1) expect(await sandboxProblem()).toBeNull();
    expect(readFileSync(`${log}.2`, 'utf8')).toBe('-p /bin/sh -c :\n');
  });
});

describe('a sandboxed command', () => {
  beforeEach(() => on('linux'));

  it('is started by bubblewrap, with a filter of system calls', async () => {
    const { wrapper, filter, env, grant } = await sandbox().confine(GRANT, root);
    expect([wrapper[0], wrapper.at(-1), env, grant]).toEqual([
      expect.stringMatching(/^\/\S+\/bwrap$/),
      '--',
      {},
      GRANT,
    ]);
    const isFiltered = ['x64', 'arm64'].includes(process.arch);
    expect(filter === null).toBe(!isFiltered);
    expect(wrapper.slice(-3)).toEqual(isFiltered ? ['--seccomp', '4', '--'] : ['--chdir', root, '--']);
  });

  it('is started by sandbox-exec on macOS, with a temporary folder that ends with it', async () => {
    on('darwin');
    const { wrapper, filter, env, finish } = await sandbox().confine(WRITE, root);
    expect([wrapper.slice(0, 2), wrapper.length, filter]).toEqual([
      [expect.stringMatching(/^\/\S+\/sandbox-exec$/), '-p'],
      3,
      null,
    ]);
    expect(wrapper[2]).toContain(`(subpath "${root}")`);
    const { TMPDIR = '' } = env;
    expect(wrapper[2]).toContain(`(subpath "${TMPDIR}")`);
    writeFileSync(join(TMPDIR, 'x'), '');
    expect(await finish()).toEqual({ renamed: [], isComplete: true });
    expect([existsSync(TMPDIR), existsSync(root)]).toEqual([false, true]);
  });

  it.each([
    ['the working folder', () => root, () => root],
    ['a folder in it', () => at('src'), () => at('src')],
    ['what a link in it leads to', () => at('link'), () => at('src')],
    ['a folder elsewhere', () => '/usr', () => '/usr'],
  ])('starts in %s, where it can see it', async (_what, from, to) => {
    mkdirSync(at('src'));
    symlinkSync('src', at('link'));
    expect(valuesOf((await sandbox().confine(GRANT, from())).wrapper, '--chdir')).toEqual([to()]);
  });

  it('sees no private files: not the known ones, not those of hi or of a rule', async () => {
    const hidden = [make('.env'), make('sub/denied')];
    for (const path of [join(top, 'config.json'), make('sub/plain')]) writeFileSync(path, '');
    const { wrapper } = await sandbox({
      ownPlaces: [join(top, 'config.json')],
      rules: () => rulesOf(['read_file(denied)', 'read_file(sub/denied)']),
    }).confine(GRANT, root);
    const empty = join(top, 'spill', '1970-01-01T00-00-00-000Z-000000.stdout');
    const mounts = valuesOf(wrapper, '--ro-bind', 2);
    expect(mounts.filter((pair) => pair.startsWith(`${empty} ${top}/`)).sort()).toEqual(
      hidden.map((path) => `${empty} ${path}`).sort(),
    );
    expect(readFileSync(empty, 'utf8')).toBe('');
    if (existsSync('/etc/shadow')) expect(mounts).toContain(`${empty} /etc/shadow`);
  });

  it('sees the folders that are free to read', async () => {
    mkdirSync(join(top, 'free'));
    symlinkSync(join(top, 'free'), join(top, 'link'));
    const { wrapper } = await sandbox({ freeFolders: [join(top, 'link'), join(top, 'gone')] }).confine(GRANT, root);
    const own = valuesOf(wrapper, '--ro-bind', 2).filter((pair) => pair.includes(top) && !pair.includes('/spill/'));
    expect(own).toEqual([`${root} ${root}`, `${join(top, 'free')} ${join(top, 'free')}`]);
  });

  it.each([
    ['in it', '.git/config'],
    ['below it', 'sub/.git/config'],
    ['above it', '../.git/config'],
    ['of a submodule', '.git/modules/x/config'],
  ])('sees the settings of a repository %s without the passwords', async (_where, path) => {
    make(path, '[remote "o"]\n\turl = https://me:hunter2hunter@host/x\n');
    const { wrapper } = await sandbox().confine(GRANT, root);
    const [pair = ''] = valuesOf(wrapper, '--ro-bind', 2).filter((one) => one.endsWith(`/${path.replace('../', '')}`));
    const [by = '', replaced] = pair.split(' ');
    expect(replaced).toBe(realpathSync(at(path)));
    expect(readFileSync(by, 'utf8')).toBe('[remote "o"]\n\turl = https://me:@host/x\n');
  });

  it('sees nothing of settings that are hidden altogether', async () => {
    make('.git/config', '[remote "o"]\n\turl = https://me:hunter2hunter@host/x\n');
    const { wrapper } = await sandbox({ rules: () => rulesOf(['read_file(.git/**)']) }).confine(GRANT, root);
    expect(valuesOf(wrapper, '--tmpfs')).toContain(at('.git'));
    expect(wrapper.filter((word) => word.endsWith('.git/config'))).toEqual([]);
  });

  it('may write what it is granted, with all links followed', async () => {
    symlinkSync('work', join(top, 'alias'));
    const files = [join(top, 'alias/new')];
    const { wrapper, grant } = await sandbox({ root: join(top, 'alias') }).confine({ ...WRITE, files }, root);
    expect(grant).toEqual({ ...WRITE, files: [at('new')] });
    expect(valuesOf(wrapper, '--bind', 2)).toEqual([`${root} ${root}`]);
    expect((await sandbox().confine({ ...GRANT, network: true }, root)).wrapper).not.toContain('--unshare-net');
  });

  it('may not write where its working folder is a bare repository, or contains the home folder', async () => {
    for (const name of ['HEAD', 'objects', 'refs']) make(name);
    expect((await sandbox().confine(WRITE, root)).grant.write).toBe(false);
    const home = dirname(homedir()) === '/' ? null : dirname(homedir());
    if (home !== null) expect((await sandbox({ root: home }).confine(WRITE, home)).grant.write).toBe(false);
  });

  it('runs where a folder cannot be listed, but not in it', async () => {
    const found = await asNobody(async () => {
      const own = realpathSync(mkdtempSync(join(tmpdir(), 'hi-sandbox-')));
      const closed = join(own, 'closed');
      mkdirSync(join(closed, 'sub'), { recursive: true });
      chmodSync(closed, 0o300);
      const options = { root: own, fileOf: () => '/dev/null' };
      const { wrapper, finish } = await sandbox(options).confine(WRITE, own);
      const refused = await refusal(sandbox(options).confine(WRITE, join(closed, 'sub')));
      const isHidden = valuesOf(wrapper, '--tmpfs').includes(closed);
      const left = await finish();
      chmodSync(closed, 0o700);
      rmSync(own, { recursive: true });
      return { closed, isHidden, left, refused };
    });
    const { closed, ...rest } = found;
    expect(rest).toEqual({
      isHidden: true,
      left: { renamed: [], isComplete: true },
      refused: {
        message: `Not run: the folder '${closed}' cannot be listed, so its private files cannot be hidden.`,
        hint: 'Make it readable, or start hi elsewhere.',
        reason: `the folder '${closed}' cannot be listed, so its private files cannot be hidden; make it readable, or start hi elsewhere`,
      },
    });
  });

  it('does not run where the working folder is the root of the file system', async () => {
    expect(await refusal(sandbox({ root: '/' }).confine(GRANT, '/'))).toEqual({
      message: 'Not run: the working folder is the root of the file system.',
      hint: 'Start hi in a folder.',
      reason: 'the working folder is the root of the file system; start hi in a folder',
    });
  });
});

describe('what a sandboxed command leaves', () => {
  beforeEach(() => on('linux'));

  it('is renamed where other programs would run it, and was not there before', async () => {
    make('.envrc');
    make('node_modules/a/index.js');
    const { finish } = await sandbox().confine(WRITE, root);
    make('sub/.envrc');
    make('sub/plain');
    make('node_modules/a/.git/config');
    const renamed = ['node_modules/a/.git.set-aside-1', 'sub/.envrc.set-aside-1'].map(at);
    const left = await finish();
    expect({ ...left, renamed: [...left.renamed].sort() }).toEqual({ renamed, isComplete: true });
    for (const path of [...renamed, at('.envrc'), at('sub/plain')])
      expect([path, existsSync(path)]).toEqual([path, true]);
  });

  it('stays where the command could not write', async () => {
    const { finish } = await sandbox().confine(GRANT, root);
    make('.envrc');
    expect([await finish(), existsSync(at('.envrc'))]).toEqual([{ renamed: [], isComplete: true }, true]);
  });

  it('is only the first file of a repository that the working folder became', async () => {
    const { finish } = await sandbox().confine(WRITE, root);
    for (const name of ['HEAD', 'objects/x', 'refs/x']) make(name);
    expect(await finish()).toEqual({ renamed: [at('HEAD.set-aside-1')], isComplete: true });
  });

  it('has stood in for a repository: where there was none, no empty one stays', async () => {
    const { wrapper, finish } = await sandbox().confine(WRITE, root);
    expect(valuesOf(wrapper, '--remount-ro')).toContain(at('.git'));
    mkdirSync(at('.git'));
    await finish();
    expect(existsSync(at('.git'))).toBe(false);
    make('.git/config', '[core]\n\thooksPath = hooks/x\n');
    const next = await sandbox().confine(WRITE, root);
    expect(valuesOf(next.wrapper, '--remount-ro')).not.toContain(at('.git'));
    expect(valuesOf(next.wrapper, '--ro-bind', 2)).toEqual(
      expect.arrayContaining([
        `${at('.git')} ${at('.git')}`,
        `${join(top, 'spill', '1970-01-01T00-00-00-000Z-000000.stdout')} ${at('hooks')}`,
      ]),
    );
    writeFileSync(at('hooks'), '');
    await next.finish();
    expect(existsSync(at('hooks'))).toBe(false);
  });

  it('is found in folders that the command closed', async () => {
    const found = await asNobody(async () => {
      const own = realpathSync(mkdtempSync(join(tmpdir(), 'hi-sandbox-')));
      const { finish } = await sandbox({ root: own, fileOf: () => '/dev/null' }).confine(WRITE, own);
      mkdirSync(join(own, 'closed/deep'), { recursive: true });
      writeFileSync(join(own, 'closed/deep/.envrc'), '');
      for (const path of ['closed/deep', 'closed']) chmodSync(join(own, path), 0);
      return { own, left: await finish() };
    });
    rmSync(found.own, { recursive: true });
    expect(found.left).toEqual({ renamed: [join(found.own, 'closed/deep/.envrc.set-aside-1')], isComplete: true });
  });
});
