import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isPrivatePath, listed, SYSTEM_PLACES } from '../paths/private-places.js';
import { isInside, realPath } from '../paths/resolve-path.js';
import { type Place, placeAt } from '../paths/tree-places.js';
import type { Mount } from './confinement.js';

/** What the system needs to run programs. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/sys'],
  ...['/nix', '/gnu', '/snap', '/home/linuxbrew/.linuxbrew'],
  ...['/var/lib/dpkg', '/var/lib/rpm', '/var/lib/pacman', '/var/lib/texmf', '/var/cache/fontconfig'],
];

/**
 * Folders that each command has to itself, and that end with it. /run has the sockets of other programs (Docker,
 * D-Bus).
 */
const SCRATCH = ['/tmp', '/var/tmp', '/run'];

/**
 * What a command sees of the home folder: programs, and what package managers have downloaded. Places next to these
 * that hold keys (~/.cargo/credentials.toml, ~/.m2/settings.xml, ~/.gem/credentials) stay out.
 */
export const HOME_PLACES = listed(`
  bin .local/bin .local/lib .local/share/pipx .local/share/uv .local/share/mise .local/share/pnpm .gitconfig .config/git
  .cargo/bin .cargo/registry .cargo/git .cargo/config.toml .rustup go/bin go/pkg/mod sdk .dotnet .nuget/packages .ghcup .opam
  .npm/_cacache .nvm .fnm .volta .asdf .bun .deno .cache/node .cache/pnpm .cache/yarn .pyenv .cache/pip .cache/pypoetry
  miniconda3 anaconda3 miniforge3 .rbenv .gem/ruby .m2/repository .m2/wrapper .gradle/wrapper .sdkman
  .ivy2/cache .pub-cache .elan .hex/packages .mix .composer/cache .cache/ms-playwright .cache/Cypress .cache/puppeteer`);

/**
 * Caches that are written to when something is downloaded: with the network they are empty, and end with the command.
 */
const WRITTEN_CACHES = new Set(
  listed(`.npm/_cacache .cache/pnpm .cache/yarn .local/share/pnpm .cargo/registry .cargo/git go/pkg/mod
  .m2/repository .gradle/wrapper`),
);

/** Where programs in the home folder want to write: they find something writable, which ends with the command. */
const HOME_SCRATCH = ['.cache', '.npm', '.gradle', '.yarn', '.m2', '.cargo', 'go', '.local/share/pnpm', '.local/state'];

/** Variables that name the folder of a toolchain. */
const TOOLCHAINS = ['GOROOT', 'GOMODCACHE', 'JAVA_HOME', 'NVM_DIR', 'PYENV_ROOT', 'RUSTUP_HOME', 'VIRTUAL_ENV'];

/** The home folder with all links resolved; null where there is none of its own, as in some containers. */
export function homeFolder(): string | null {
  const home = realPath(homedir());
  return home === '/' ? null : home;
}

/**
 * The mounts that every command gets. What rules open `around` the home folder opens neither that one nor a folder of
 * its own in it, such as /tmp.
 */
export function systemMounts(home: string | null, network: boolean, around: readonly Place[]): readonly Mount[] {
  const resolver = realPath('/etc/resolv.conf');
  const opened = around.map(({ path }): Mount => ({ kind: 'read', path }));
  const scratch = SCRATCH.filter(existsSync).map((path): Mount => ({ kind: 'scratch', path }));
  return [
    ...[...opened, ...SYSTEM.flatMap(systemMount), ...scratch].sort(byLength),
    // systemd-resolved keeps this file in /run.
    ...(network && !isInside('/etc', resolver) && existsSync(resolver)
      ? [{ kind: 'read' as const, path: resolver }]
      : []),
    ...(home === null ? [] : homeMounts(home)),
  ];
}

/** A folder before what lies in it. */
const byLength = (one: Mount, other: Mount): number => one.path.length - other.path.length;

function systemMount(path: string): readonly Mount[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return [found.isSymbolicLink() ? { kind: 'link', path, to: readlinkSync(path) } : { kind: 'read', path }];
}

function homeMounts(home: string): readonly Mount[] {
  const named = homedir();
  return [
    { kind: 'scratch', path: home },
    ...(named === home || isInside(home, named) ? [] : [{ kind: 'link' as const, path: named, to: home }]),
    ...HOME_SCRATCH.map((path): Mount => ({ kind: 'scratch', path: join(home, path) })),
  ];
}

/** The caches and toolchains that exist, in the home folder and where `PATH` and other variables name them. */
export function toolchainMounts(
  env: Readonly<Record<string, string | undefined>>,
  home: string | null,
  network: boolean,
): readonly Mount[] {
  const named = [...(env.PATH ?? '').split(delimiter).map(toolchainOf), ...TOOLCHAINS.map((name) => env[name] ?? '')];
  const folders = named.filter((path) => isAbsolute(path) && isToolchain(path, home)).map((path) => resolve(path));
  const shown = HOME_PLACES.filter((path) => !network || !WRITTEN_CACHES.has(path));
  const places = home === null ? [] : shown.map((path) => join(home, path));
  const inRealHome = (path: string): string =>
    home !== null && isInside(homedir(), path) ? join(home, relative(homedir(), path)) : path;
  return [...new Set([...places, ...folders.map(inRealHome)])]
    .filter(existsSync)
    .map((path) => ({ kind: 'read', path, from: realPath(path) }));
}

/**
 * What the programs of a folder in `PATH` need: the folder above, where that is a toolchain, and not one such as
 * ~/.local or ~/.cargo.
 */
function toolchainOf(path: string): string {
  const above = dirname(path);
  const isWhole = basename(path) === 'shims' || (basename(path) === 'bin' && !basename(above).startsWith('.'));
  return isWhole && isToolchain(above, homeFolder()) ? above : path;
}

/**
 * Whether a folder that a variable names may be shown: it is neither part of the system, shown anyway, nor large enough
 * to hold the user's own files.
 */
function isToolchain(path: string, home: string | null): boolean {
  const real = realPath(path);
  if (isOfSystem(path)) return false;
  return !isPrivatePath(real) && real.split('/').length > 2 && (home === null || !isInside(real, home));
}

/** Whether a path is in a folder of the system that commands see. */
export const isOfSystem = (path: string): boolean => SYSTEM.some((folder) => isInside(folder, path));

/**
 * As root: the files of the system that others cannot read. Looked for once, because only an administrator changes
 * them.
 */
export function closedSystemPlaces(): readonly Place[] {
  found ??= [...SYSTEM_PLACES.flatMap(placeAt), ...(process.getuid?.() === 0 ? closedBelow('/etc') : [])];
  return found;
}

let found: readonly Place[] | null = null;

function closedBelow(folder: string): readonly Place[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) return [];
    const mode = lstatSync(path).mode;
    if ((mode & 0o004) === 0) return [{ path, isFolder: entry.isDirectory() }];
    return entry.isDirectory() ? closedBelow(path) : [];
  });
}

/**
 * The entries of the home folder that can be seen where it is the working folder itself: those without a dot. Settings
 * and keys are in the others.
 */
export function visibleEntries(home: string): readonly string[] {
  return readdirSync(home)
    .filter((name) => !isAbsentName(name))
    .map((name) => join(home, name));
}

/**
 * Whether an entry at the top of the home folder cannot be seen. `Library` and `snap` have the settings of programs
 * too.
 */
export const isAbsentName = (name: string): boolean => name.startsWith('.') || name === 'Library' || name === 'snap';
