import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { ownProgram } from '../../processes.js';
import { loginFilesOf, ownLoginFiles, repositoriesOf, withoutLogins } from '../paths/git-logins.js';
import { firstMissing, gitPlaces, isRepositoryFolder, repositoriesAbove } from '../paths/git-places.js';
import { fullPath } from '../paths/judge-path.js';
import { isPrivatePath } from '../paths/private-places.js';
import { isInside, isThere, linksOn, lstatOrNull, realPath } from '../paths/resolve-path.js';
import { isRepository, linkedSettings, mountedFirst, runsLater } from '../paths/runs-later.js';
import { type Place, placeAt, TREE_LIMITS, TreeIndex, type TreePlaces } from '../paths/tree-places.js';
import type { CommandGrant, Rules } from '../rules/rules.js';
import { bubblewrapOptions, FILTER_DESCRIPTOR } from './bubblewrap.js';
import {
  closedSystemPlaces,
  homeFolder,
  isAbsentName,
  isOfSystem,
  systemMounts,
  toolchainMounts,
  visibleEntries,
} from './closed-home.js';
import { type Confinement, isOwn, isVisible, type Mount, NotConfinable } from './confinement.js';
import { type Denial, denialsOf, mayReach, patternsIn, standIn, topsOf } from './denied-places.js';
import { closeInheritedDescriptors } from './inherited-descriptors.js';
import { requireSandbox } from './sandbox-kind.js';
import { seatbeltProfile } from './seatbelt.js';
import {
  madeListable,
  makeMissing,
  removeStandIns,
  removeUnused,
  restoreLinks,
  setAside,
  stampOf,
  stampsOf,
} from './set-aside.js';
import { systemCallFilter } from './system-call-filter.js';

/** A command's sandbox. */
export interface ConfinedRun {
  /** The program and its arguments to put before the command. */
  readonly wrapper: readonly string[];
  /** The input for file descriptor 4 of the program; null for none. */
  readonly filter: Uint8Array | null;
  readonly env: Readonly<Record<string, string>>;
  readonly grant: CommandGrant;
  /** Whether a rule to write has no effect in this folder. */
  readonly isNeverWritten: boolean;
  /** Must be called when the command has ended, and again when what it left in the background has. Never rejects. */
  finish(): Promise<Leftovers>;
}

/** Files that a command left behind for other programs to run, or where a rule forbids it. */
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
  /** The environment of commands: toolchains are looked for where it says. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Creates one of hi's own files with this text, unless it exists, and returns its path. */
  fileOf(text: string): string;
  /** The rules of the session: what they deny are places for a sandbox. */
  rules(): Rules;
}

/** What a search before a command found. */
type Places = Pick<
  Confinement,
  'grant' | 'system' | 'home' | 'readable' | 'work' | 'hidden' | 'kept' | 'missing' | 'replaced'
> & { readonly before: Before };

/** The state before a command, to compare with. */
interface Before {
  readonly tree: TreePlaces;
  readonly roots: readonly string[];
  readonly index: TreeIndex;
  /** The places that are protected by nothing but this comparison, each with its stamp. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** What rules deny, and the searches: for all that is special, and only for what is denied. */
interface Searches {
  /** The working folder, with all links resolved. */
  readonly root: string;
  readonly denials: readonly Denial[];
  readonly all: TreeIndex;
  readonly denied: TreeIndex;
}

/** The sandbox of one session. */
export class Sandbox {
  readonly #options: SandboxOptions;
  #search: Searches | null = null;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Prepares the sandbox for one command. Throws `NotConfinable` for one that must not run without approval. */
  async confine(grant: CommandGrant, workingFolder: string, signal?: AbortSignal): Promise<ConfinedRun> {
    const kind = await requireSandbox();
    const { confinement, before } = await this.#confinement(grant, realPath(workingFolder), signal);
    const { folder, missing, temporary } = confinement;
    const closed = before.tree.closed.find((path) => isInside(path, folder));
    if (closed !== undefined)
      throw new NotConfinable(
        `the folder '${closed}' cannot be listed, so its private files cannot be hidden`,
        'Make it readable, or start hi elsewhere',
      );
    if (isOwn(folder, confinement))
      throw new NotConfinable(`'${folder}' is hi's own, and no command reaches it`, 'Change to another folder');
    if (!isVisible(folder, confinement))
      throw new NotConfinable(`the folder '${folder}' does not exist in the sandbox`, 'Go back to the working folder');
    // A file that a command redirects to is made first, so that it can be mounted alone, without its folder.
    const made = kind === 'bubblewrap' ? makeMissing(confinement.grant.files) : [];
    const links = this.#options.ownPlaces.flatMap(linksOn);
    const finish = async (): Promise<Leftovers> => {
      removeStandIns(missing.map(({ path }) => path));
      removeUnused(made);
      if (kind === 'seatbelt') rmSync(temporary, { recursive: true, force: true });
      if (!confinement.grant.write) return { renamed: [], isComplete: true };
      const replaced = restoreLinks(links);
      const { renamed, isComplete } = await this.#setAside(confinement, before);
      return { renamed: [...replaced, ...renamed], isComplete };
    };
    try {
      const filter = kind === 'bubblewrap' && !confinement.isLoose ? systemCallFilter() : null;
      const wrapper = kind === 'bubblewrap' ? bubblewrapCommand(confinement, filter) : seatbeltCommand(confinement);
      closeInheritedDescriptors();
      return {
        wrapper,
        filter,
        env: kind === 'bubblewrap' ? {} : { TMPDIR: temporary },
        grant: confinement.grant,
        isNeverWritten: grant.write && !confinement.grant.write,
        finish,
      };
    } catch (failure) {
      removeUnused(made);
      throw failure;
    }
  }

  #searches(): Searches {
    if (this.#search !== null) return this.#search;
    const root = realPath(this.#options.root);
    const denials = denialsOf(this.#options.rules(), root);
    const isMeant = (kind: Denial['kind']) => {
      const patterns = denials.filter((denial) => denial.kind === kind && denial.matches !== null);
      return (path: string, isFolder: boolean): boolean =>
        patterns.some(({ path: top, matches }) => isInside(top, path) && matches?.(path, isFolder));
    };
    const home = homeFolder();
    const denied = {
      ...{ isHidden: isMeant('read'), isDenied: isMeant('read'), isKept: isMeant('write') },
      ...{ isAbsent: () => false, runsLater: () => false, isRepository: () => false },
    };
    this.#search = {
      root,
      denials,
      denied: new TreeIndex(denied),
      all: new TreeIndex({
        ...denied,
        isHidden: (path, isFolder) => isPrivatePath(path) || denied.isHidden(path, isFolder),
        isAbsent: (path) => path === home || (dirname(path) === home && isAbsentName(basename(path))),
        // Where the working folder itself is does not matter.
        runsLater: (path) => runsLater(`/${relative(root, path)}`),
        isRepository: (path) => isRepository(basename(path)),
      }),
    };
    return this.#search;
  }

  async #confinement(grant: CommandGrant, folder: string, signal: AbortSignal | undefined) {
    const { fileOf, freeFolders, ownPlaces } = this.#options;
    const { root, denials } = this.#searches();
    const fixed = denials.filter(({ matches }) => matches === null);
    const common = {
      ...{ root, folder, isLoose: grant.isOpen === true && denials.length === 0, emptyFile: fileOf('') },
      own: ownPlaces.flatMap(placeAt),
      free: freeFolders.flatMap(placeAt).map(({ path }) => path),
      temporary: process.platform === 'darwin' ? realPath(mkdtempSync(join(tmpdir(), 'hi-'))) : '/tmp',
    };
    const { before, ...found } = await (grant.isOpen
      ? this.#openPlaces(grant, signal)
      : this.#closedPlaces(grant, signal));
    const written = fixed.filter(({ kind }) => kind === 'write');
    const isWritable = (path: string): boolean =>
      grant.isOpen || (found.grant.write && path !== root && isInside(root, path));
    const kept = [...found.kept, ...written.filter(({ path }) => isThere(path)).map(({ path }) => path)];
    for (const path of [...kept, ...written.map((denial) => denial.written)]) if (isWritable(path)) requireNoLink(path);
    const hidden = [
      ...found.hidden,
      ...fixed.filter(({ kind }) => kind === 'read').flatMap(({ path }) => placeAt(path)),
    ];
    const ownTops = new Set(
      ownPlaces
        .map(realPath)
        .filter((path) => !isThere(path))
        .map(firstMissing),
    );
    const standIns = [...[...ownTops].map(asFolder), ...written.flatMap(standIn)];
    const missing = [...found.missing, ...standIns.filter(({ path }) => isWritable(path))];
    return { confinement: { ...common, ...found, hidden, kept, missing }, before };
  }

  /** Everything, except for what is denied: for a command that `-y` approved. */
  async #openPlaces(grant: CommandGrant, signal: AbortSignal | undefined): Promise<Places> {
    const { denials, denied } = this.#searches();
    const roots = topsOf(denials);
    if (roots.includes('/')) throw tooMuchToSearch(denials);
    const tree = await denied.find(roots, signal, true);
    if (!tree.isComplete || !tree.hasAllPackages) throw tooMuchToSearch(denials);
    return {
      ...{ grant, system: [], home: null, readable: [], work: [], replaced: [], missing: [] },
      ...{
        hidden: [...tree.hidden, ...tree.closed.map(asFolder)],
        kept: tree.kept,
        before: { tree, roots, index: denied, stamps: new Map() },
      },
    };
  }

  /** The working folder, the system and the toolchains, and what a rule grants. */
  async #closedPlaces(grant: CommandGrant, signal: AbortSignal | undefined): Promise<Places> {
    const { root, denials, all } = this.#searches();
    const home = homeFolder();
    if (root === '/')
      throw new NotConfinable('the working folder is the root of the file system', 'Start hi in a folder');
    if (home !== null && root !== home && isInside(root, home))
      throw new NotConfinable(`the working folder '${root}' contains your home folder`, 'Start hi in a folder');
    const read = grant.read.flatMap((path) => placeAt(fullPath(path, root)));
    const around = read.filter(({ path }) => home !== null && path !== home && isInside(path, home));
    const { top, tree } = await this.#treeOf(root, grant, signal);
    const others = await this.#otherTrees(read, signal);
    const repositories = [...new Set([...tree.runsLater.filter(isRepositoryFolder), ...repositoriesAbove(root)])];
    const git = grant.write ? gitPlaces(repositories, root) : { existing: [], missing: [] };
    const later = grant.write ? tree.runsLater.filter((path) => isInside(root, path)) : [];
    const kept = [...new Set([...mountedFirst(later), ...tree.kept, ...git.existing, ...linkedSettings(root)])];
    // Programs read settings directly from the home folder, and git from a bare repository and a folder of hooks.
    const write = grant.write && root !== home && !kept.includes(root);
    const missing = [
      ...(isThere(join(root, '.git')) ? [] : [asFolder(join(root, '.git'))]),
      ...git.missing.map(asFile),
    ];
    return {
      grant: { ...grant, write, files: grant.files.map(realPath) },
      system: systemMounts(home, grant.network, around),
      home,
      // A pattern may mean files in there, too many to search before each command.
      readable: [
        ...toolchainMounts(this.#options.env, home, grant.network).filter(
          ({ path }) => !patternsIn(denials).some((one) => mayReach(one, path)),
        ),
        ...[
          ...read
            .filter((place) => !around.includes(place))
            .flatMap(({ path }) => (path === home ? visibleEntries(path) : [path])),
          ...(top === root ? [] : [top]),
        ].map(asReadable),
      ],
      work: root === home ? visibleEntries(root) : [root],
      hidden: [
        ...closedSystemPlaces(),
        ...[tree, ...others].flatMap(({ hidden, closed }) => [...hidden, ...closed.map(asFolder)]),
      ],
      kept: write ? kept.filter((path) => isInside(root, path)) : [],
      missing: write ? missing : [],
      replaced: this.#withoutLogins(repositories),
      before: { tree, roots: [top], index: all, stamps: stampsOf(later, kept) },
    };
  }

  /** Searches the working folder, and with it the repository that it is in, unless that is too large. */
  async #treeOf(root: string, { write }: CommandGrant, signal: AbortSignal | undefined) {
    const { all, denials } = this.#searches();
    const entersPackages = write || patternsIn(denials).length > 0;
    for (const top of new Set([repositoryAround(root), root])) {
      const tree = await all.find([top], signal, entersPackages);
      if (tree.isComplete) return { top, tree };
    }
    throw new NotConfinable(
      `'${root}' has more than ${TREE_LIMITS.folders} folders or ${TREE_LIMITS.entries} files, too many to hide the private ones from a command`,
      'Start hi in one of its folders',
    );
  }

  /** Searches what else can be read. A private place that a rule names is shown whole, except for what is denied. */
  async #otherTrees(read: readonly Place[], signal: AbortSignal | undefined): Promise<readonly TreePlaces[]> {
    const { all, denied, denials } = this.#searches();
    const folders = read.filter(({ isFolder }) => isFolder).map(({ path }) => path);
    const patterns = topsOf(denials.filter(({ kind, path }) => kind === 'read' && isOfSystem(path)));
    if (patternsIn(denials).some(({ kind, path }) => kind === 'read' && path === '/')) throw tooMuchToSearch(denials);
    const trees = [
      await all.find(
        folders.filter((path) => !isPrivatePath(path)),
        signal,
        true,
      ),
      await denied.find([...folders.filter(isPrivatePath), ...patterns], signal, true),
    ];
    if (trees.every(({ isComplete, hasAllPackages }) => isComplete && hasAllPackages)) return trees;
    throw new NotConfinable(
      'a rule opens or denies places in a folder with too many files to search',
      'Name smaller folders',
    );
  }

  /** The git settings that contain credentials, each with the file that commands see instead. */
  #withoutLogins(repositories: readonly string[]): Confinement['replaced'] {
    const files = [...repositories.flatMap(repositoriesOf).flatMap(loginFilesOf), ...ownLoginFiles()].map(realPath);
    return [...new Set(files)].map((path) => ({
      path,
      by: this.#options.fileOf(withoutLogins(readFileSync(path, 'utf8'))),
    }));
  }

  /** Renames what a command left for others to run or where it is denied, also in folders it made unreadable. */
  async #setAside(
    { root, grant, kept: protectedPlaces }: Confinement,
    { tree: before, roots, index, stamps }: Before,
  ): Promise<Leftovers> {
    const { denials } = this.#searches();
    const isUnchanged = (path: string): boolean => !stamps.has(path) || stamps.get(path) === stampOf(path);
    const known = new Set([...protectedPlaces, ...before.runsLater.filter(isUnchanged), ...before.kept]);
    const places = denials.filter(
      ({ kind, matches, path }) =>
        kind === 'write' && matches === null && isInRange(path, root, grant) && isThere(path),
    );
    for (;;) {
      const { runsLater: left, kept, closed, isComplete, hasAllPackages } = await index.find(roots, undefined, true);
      const shut = closed.filter((path) => !before.closed.includes(path));
      if (shut.some(madeListable)) continue;
      const fresh = [...new Set([...left, ...kept, ...places.map(({ path }) => path)])].filter(
        (path) => !known.has(path) && isInRange(path, root, grant),
      );
      // If the working folder itself became a bare repository, only HEAD is renamed: without it, it is not one.
      const renamed = setAside(fresh.map((path) => (path === root ? join(root, 'HEAD') : path)));
      // If there were too many packages before the command too, it did not create them.
      const isSearched = isComplete && (hasAllPackages || !before.hasAllPackages);
      return { renamed, isComplete: isSearched && shut.length === 0 };
    }
  }
}

const isInRange = (path: string, root: string, grant: CommandGrant): boolean =>
  grant.isOpen === true || isInside(root, path);

const asFolder = (path: string): Place => ({ path, isFolder: true });
const asFile = (path: string): Place => ({ path, isFolder: false });
const asReadable = (path: string): Mount => ({ kind: 'read', path });

const tooMuchToSearch = (denials: readonly Denial[]): NotConfinable =>
  new NotConfinable(
    `${patternsIn(denials)
      .map(({ source }) => `'${source}'`)
      .join(', ')} may deny files in too many folders to search before each command`,
    'Begin the pattern with a smaller folder',
  );

/** The repository that a folder is in; the folder itself where there is none, or where it is the home folder. */
function repositoryAround(root: string): string {
  const home = homeFolder();
  const top =
    root === home
      ? root
      : dirname([join(root, '.git'), ...repositoriesAbove(root)].find(isThere) ?? join(root, '.git'));
  return top === '/' || (home !== null && isInside(top, home)) ? root : top;
}

// Nothing can be mounted over a symbolic link, so a command could replace it.
function requireNoLink(path: string): void {
  if (lstatOrNull(path)?.isSymbolicLink() !== true) return;
  throw new NotConfinable(
    `the sandbox cannot protect '${path}', which is a symbolic link`,
    "Put the folder itself there (for .git, also a file that says 'gitdir: FOLDER'), or run the command with approval",
  );
}

function bubblewrapCommand(confinement: Confinement, filter: Uint8Array | null): readonly string[] {
  const filtered = filter === null ? [] : ['--seccomp', String(FILTER_DESCRIPTOR)];
  return [ownProgram('bwrap'), ...bubblewrapOptions(confinement), ...filtered, '--'];
}

function seatbeltCommand(confinement: Confinement): readonly string[] {
  return [ownProgram('sandbox-exec'), '-p', seatbeltProfile(confinement)];
}
