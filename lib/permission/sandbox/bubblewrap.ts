import { existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isInside, realPath } from '../paths/resolve-path.js';
import { protectedFirst } from '../paths/runs-later.js';
import { type Confinement, NotConfinable } from './confinement.js';

/** Settings of the kernel and its devices, which root can change even without capabilities. */
const KERNEL_SETTINGS = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];

/** Folders that are empty for each command. /run has the sockets of other programs (Docker, D-Bus). */
const EMPTY_FOLDERS = ['/tmp', '/var/tmp', '/run'];

/** The descriptor that the filter of system calls is read from. */
export const FILTER_DESCRIPTOR = 4;

/** The minimum that a command needs to start. */
export const BARE_OPTIONS: readonly string[] = [
  ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--cap-drop', 'ALL'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
];

/** bubblewrap accepts 9000 arguments, and the command comes after these. */
const MOST_OPTIONS = 8900;

/** The arguments of `bwrap` for this confinement, without the command. Throws `NotConfinable` where a place cannot be protected. */
export function bubblewrapOptions(confinement: Confinement): readonly string[] {
  const { root, grant, folder, readable } = confinement;
  const kernel = KERNEL_SETTINGS.filter((path) => existsSync(path));
  const options = [
    ...BARE_OPTIONS.filter((option) => option !== '--unshare-net' || !grant.network),
    ...kernel.flatMap((path) => ['--ro-bind', path, path]),
    ...EMPTY_FOLDERS.filter((path) => existsSync(path)).flatMap((path) => ['--tmpfs', path]),
    ...(grant.network ? resolverMounts() : []),
    ...hiddenMounts(
      confinement.hidden.filter((path) => !isInside(root, path) && !isEmptied(path)),
      confinement.emptyFile,
    ),
    ...(grant.write ? ['--bind', root, root, ...protectedMounts(confinement)] : ['--ro-bind', root, root]),
    ...hiddenMounts(
      confinement.hidden.filter((path) => isInside(root, path) && path !== root),
      confinement.emptyFile,
    ),
    ...confinement.replaced.flatMap(({ path, by }) => ['--ro-bind', by, path]),
    ...grant.files.flatMap(fileMount),
    ...readable.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]),
    ...['--setenv', 'TMPDIR', '/tmp', '--chdir', folder],
  ];
  if (options.length <= MOST_OPTIONS) return options;
  throw new NotConfinable(
    `'${root}' and the home folder have more private files than the sandbox can hide one by one`,
    'Start hi in one of its folders',
  );
}

const isEmptied = (path: string): boolean => EMPTY_FOLDERS.some((folder) => isInside(folder, path));

/** systemd-resolved keeps the file that /etc/resolv.conf links to in /run. */
function resolverMounts(): readonly string[] {
  const resolver = '/run/systemd/resolve';
  return existsSync(resolver) ? ['--ro-bind', resolver, resolver] : [];
}

/** Hides folders and files behind empty ones. Nothing inside a hidden folder needs a mount of its own, and nothing can be mounted over a link. */
function hiddenMounts(paths: readonly string[], emptyFile: string): readonly string[] {
  return outermostOf(paths.map(realPath)).flatMap((path) => {
    const found = statOrNull(path);
    if (found === null) return [];
    return found.isDirectory() ? ['--tmpfs', path] : ['--ro-bind', emptyFile, path];
  });
}

/** The paths that are not inside another of them, sorted. There may be thousands. */
function outermostOf(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  const isInOther = (path: string): boolean => {
    for (let above = dirname(path); above !== dirname(above); above = dirname(above)) if (all.has(above)) return true;
    return false;
  };
  return [...all].filter((path) => !isInOther(path)).sort();
}

/**
 * A file that runs something later is mounted over itself, read-only. So are the folders above it, but writable: a mount point cannot be renamed, so
 * nothing else can take its place.
 */
function protectedMounts({ root, runsLater, missing, emptyFile }: Confinement): readonly string[] {
  const outermost = outermostOf(protectedFirst(runsLater).filter((path) => path !== root && isInside(root, path)));
  for (const path of outermost) requireNoLink(path);
  const above = new Set([...outermost, ...missing].flatMap((path) => foldersAbove(path, root)));
  return [
    ...[...above].sort().flatMap((path) => (existsSync(path) ? ['--bind', path, path] : [])),
    ...outermost.flatMap((path) => ['--ro-bind', path, path]),
    ...missing.flatMap((path) => standIn(path, emptyFile)),
  ];
}

/** Git ignores an empty folder called `.git`; an empty file would be an error. */
function standIn(path: string, emptyFile: string): readonly string[] {
  return basename(path) === '.git' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', emptyFile, path];
}

function foldersAbove(path: string, root: string): readonly string[] {
  const folder = dirname(path);
  return folder !== root && isInside(root, folder) ? [...foldersAbove(folder, root), folder] : [];
}

// Nothing can be mounted over a symbolic link, so a command could replace it.
function requireNoLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw new NotConfinable(
    `the sandbox cannot protect '${path}', which is a symbolic link`,
    "Put the folder itself there (for .git, also a file that says 'gitdir: FOLDER'), or run the command with approval",
  );
}

/** Mounts a file writable; if it does not exist yet, its folder. */
function fileMount(path: string): readonly string[] {
  const there = existsSync(path) ? path : dirname(path);
  return existsSync(there) ? ['--bind', there, there] : [];
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
