import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { loginFilesOf, ownLoginFiles, repositoriesOf, withoutLogins } from '../paths/git-logins.js';
import { privatePlacesBelow, repositoriesBelow } from '../paths/places-below.js';
import { isPrivatePath, SYSTEM_PLACES } from '../paths/private-places.js';
import { isInside, realPath } from '../paths/resolve-path.js';
import { isRepository, runsLater } from '../paths/runs-later.js';
import type { CommandGrant, Grant } from '../rules/rules.js';
import { BARE_OPTIONS, bubblewrapOptions, FILTER_DESCRIPTOR } from './bubblewrap.js';
import { type Confinement, NotConfinable } from './confinement.js';
import { gitPlaces } from './git-places.js';
import { otherHomes } from './other-homes.js';
import { SEATBELT_PROBE, seatbeltProfile } from './seatbelt.js';
import { madeListable, removeStandIns, setAside } from './set-aside.js';
import { systemCallFilter } from './system-call-filter.js';
import { TREE_LIMITS, TreeIndex, type TreePlaces } from './tree-places.js';

/** A command's sandbox. */
export interface ConfinedRun {
  /** The program and its arguments to put before the command. */
  readonly wrapper: readonly string[];
  /** The input for file descriptor 4 of the program; null for none. */
  readonly filter: Uint8Array | null;
  readonly env: Readonly<Record<string, string>>;
  readonly grant: Grant;
  /** Must be called when the command has ended. Never rejects. */
  finish(): Promise<Leftovers>;
}

/** Files that a command left behind for other programs to run. */
export interface Leftovers {
  /** The files under their new names. */
  readonly renamed: readonly string[];
  /** False if the folder is too large to search: the command may have left other files. */
  readonly isComplete: boolean;
}

/** The options of a sandbox. */
export interface SandboxOptions {
  /** The working folder of the session. */
  readonly root: string;
  /** hi's own folders and files. */
  readonly ownPlaces: readonly string[];
  /** Folders in them that may be read. */
  readonly freeFolders: readonly string[];
  /** Creates one of hi's own files with this text, unless it exists, and returns its path. */
  fileOf(text: string): string;
  /** Whether a rule denies reading this path. */
  isDenied(path: string): boolean;
}

/** The sandbox of one session. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #index: TreeIndex;

  constructor(options: SandboxOptions) {
    this.#options = options;
    const root = realPath(options.root);
    this.#index = new TreeIndex({
      isHidden: (path) => isPrivatePath(path) || options.isDenied(path),
      // Where the working folder itself is does not matter.
      runsLater: (path) => runsLater(`/${relative(root, path)}`),
      isRepository: (path) => isRepository(basename(path)),
    });
  }

  /** Prepares the sandbox for one command. Throws `NotConfinable` where the command cannot be sandboxed and so must not run without approval. */
  async confine(grant: CommandGrant, workingFolder: string, signal?: AbortSignal): Promise<ConfinedRun> {
    const kind = await requireSandbox();
    const root = realPath(this.#options.root);
    const tree = await this.#treeOf(root, grant.write, signal);
    const confinement = this.#confinement(root, tree, grant, workingFolder);
    const filter = kind === 'bubblewrap' ? systemCallFilter() : null;
    return {
      wrapper: kind === 'bubblewrap' ? bubblewrapCommand(confinement, filter) : seatbeltCommand(confinement),
      filter,
      env: kind === 'bubblewrap' ? {} : { TMPDIR: confinement.temporary },
      grant: confinement.grant,
      finish: async () => {
        removeStandIns(confinement.missing);
        if (kind === 'seatbelt') rmSync(confinement.temporary, { recursive: true, force: true });
        return confinement.grant.write ? this.#setAside(confinement, tree) : { renamed: [], isComplete: true };
      },
    };
  }

  /** Renames files that a command left for other programs to run. Makes folders readable that it made unreadable, to search them. */
  async #setAside({ root, runsLater: known }: Confinement, before: TreePlaces): Promise<Leftovers> {
    for (;;) {
      const { runsLater: left, closed, isComplete, hasAllPackages } = await this.#index.find(root, undefined, true);
      const shut = closed.filter((path) => !before.closed.includes(path));
      if (shut.some(madeListable)) continue;
      const fresh = left.filter((path) => !known.includes(path));
      // If the working folder itself became a bare repository, only HEAD is renamed: without it, it is not one.
      const renamed = setAside(fresh.map((path) => (path === root ? join(root, 'HEAD') : path)));
      // If there were too many packages before the command too, it did not create them.
      const isSearched = isComplete && (hasAllPackages || !before.hasAllPackages);
      return { renamed, isComplete: isSearched && shut.length === 0 };
    }
  }

  async #treeOf(root: string, write: boolean, signal: AbortSignal | undefined): Promise<TreePlaces> {
    if (root === '/')
      throw new NotConfinable('the working folder is the root of the file system', 'Start hi in a folder');
    const tree = await this.#index.find(root, signal, write);
    if (tree.isComplete) return tree;
    throw new NotConfinable(
      `'${root}' has more than ${TREE_LIMITS.folders} folders or ${TREE_LIMITS.entries} files, too many to hide the private ones from a command`,
      'Start hi in one of its folders',
    );
  }

  /** The git settings that contain credentials, each with the file that commands see instead. */
  #withoutLogins(git: readonly string[], root: string): Confinement['replaced'] {
    const repositories = [...git, ...gitFoldersAbove(root), ...repositoriesBelow(realPath(homedir()))];
    const files = [...repositories.flatMap(repositoriesOf).flatMap(loginFilesOf), ...ownLoginFiles()].map(realPath);
    return [...new Set(files)].map((path) => ({
      path,
      by: this.#options.fileOf(withoutLogins(readFileSync(path, 'utf8'))),
    }));
  }

  #confinement(root: string, tree: TreePlaces, grant: CommandGrant, workingFolder: string): Confinement {
    // The user's programs read settings directly from the home folder, and git from a bare repository.
    const write = grant.write && !isInside(root, realPath(homedir())) && !tree.runsLater.includes(root);
    const git = tree.runsLater.filter((path) => basename(path) === '.git');
    const others = write ? git.map((path) => gitPlaces(path, root)) : [];
    const hidden = [...placesOutside(root), ...tree.hidden, ...tree.closed, ...this.#options.ownPlaces];
    const own = join(root, '.git');
    const isRepository = lstatSync(own, { throwIfNoEntry: false }) !== undefined;
    const folder = realPath(workingFolder);
    const closed = tree.closed.find((path) => isInside(path, folder));
    if (closed !== undefined)
      throw new NotConfinable(
        `the folder '${closed}' cannot be listed, so its private files cannot be hidden`,
        'Make it readable, or start hi elsewhere',
      );
    return {
      root,
      folder: isInside(root, folder) || isVisible(folder) ? folder : root,
      grant: { ...grant, write, files: grant.files.map(realPath) },
      hidden,
      readable: this.#options.freeFolders.filter((path) => existsSync(path)).map(realPath),
      runsLater: [...tree.runsLater, ...others.flatMap(({ existing }) => existing)],
      missing: write ? [...(isRepository ? [] : [own]), ...others.flatMap(({ missing }) => missing)] : [],
      emptyFile: this.#options.fileOf(''),
      replaced: this.#withoutLogins(git, root).filter(({ path }) => !hidden.some((place) => isInside(place, path))),
      temporary: process.platform === 'darwin' ? realPath(mkdtempSync(join(tmpdir(), 'hi-'))) : '/tmp',
    };
  }
}

function gitFoldersAbove(folder: string): readonly string[] {
  const above = dirname(folder);
  const git = join(above, '.git');
  return above === folder ? [] : [...(existsSync(git) ? [git] : []), ...gitFoldersAbove(above)];
}

function placesOutside(root: string): readonly string[] {
  const home = realPath(homedir());
  const others = otherHomes(home).filter((path) => !isInside(path, root));
  return [...privatePlacesBelow([home, '/etc/ssh']), ...others, ...SYSTEM_PLACES.filter((path) => existsSync(path))];
}

const isVisible = (folder: string): boolean =>
  !['/tmp', '/var/tmp', '/run', '/proc', '/dev'].some((empty) => isInside(empty, folder));

function bubblewrapCommand(confinement: Confinement, filter: Uint8Array | null): readonly string[] {
  const filtered = filter === null ? [] : ['--seccomp', String(FILTER_DESCRIPTOR)];
  return ['bwrap', ...bubblewrapOptions(confinement), ...filtered, '--'];
}

function seatbeltCommand(confinement: Confinement): readonly string[] {
  return ['sandbox-exec', '-p', seatbeltProfile(confinement)];
}

/** The program that sandboxes commands. */
export type SandboxKind = 'bubblewrap' | 'seatbelt';

/** What to do if there is none. */
export const SANDBOX_HINT =
  process.platform === 'linux'
    ? 'Install bubblewrap (Debian: apt install bubblewrap), or set tools.sandbox to false.'
    : 'Set tools.sandbox to false.';

const probes = new Map<string, Promise<string | null>>();

/** The sandbox of this system; null if it has none that works. */
export async function sandboxKind(): Promise<SandboxKind | null> {
  return (await sandboxProblem()) === null ? (process.platform === 'darwin' ? 'seatbelt' : 'bubblewrap') : null;
}

async function requireSandbox(): Promise<SandboxKind> {
  const kind = await sandboxKind();
  if (kind !== null) return kind;
  throw new NotConfinable(
    `tools.sandbox is on, but ${await sandboxProblem()}`,
    `The user can do this: ${SANDBOX_HINT.replace(/\.$/, '')}`,
  );
}

/** Why commands cannot be sandboxed on this system; null if they can. Tried once. */
export function sandboxProblem(): Promise<string | null> {
  if (process.platform === 'win32') return Promise.resolve('hi has no sandbox for Windows');
  const path = process.env.PATH ?? '';
  const before = probes.get(path);
  if (before !== undefined) return before;
  const probe =
    process.platform === 'darwin'
      ? tried('sandbox-exec', ['-p', seatbeltProfile(SEATBELT_PROBE)])
      : tried('bwrap', BARE_OPTIONS);
  probes.set(path, probe);
  return probe;
}

function tried(program: string, options: readonly string[]): Promise<string | null> {
  const name = program === 'bwrap' ? 'bubblewrap' : program;
  return new Promise((resolve) => {
    execFile(
      program,
      [...options, ...(program === 'bwrap' ? ['--'] : []), '/bin/sh', '-c', ':'],
      { env: process.env },
      (failure, _output, errors) => {
        if (failure === null) resolve(null);
        else if (failure.code === 'ENOENT') resolve(`${name} cannot be used here: it is not installed`);
        else resolve(`${name} cannot be used here: ${errors.trim() || failure.message}`);
      },
    );
  });
}
