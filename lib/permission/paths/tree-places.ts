import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemCode } from '../../errors.js';
import { realPath } from './resolve-path.js';

/** A file or a folder, with all links in its path resolved. */
export interface Place {
  readonly path: string;
  readonly isFolder: boolean;
}

/** A path as a place; nothing where it does not exist. */
export function placeAt(path: string): readonly Place[] {
  const real = realPath(path);
  try {
    // An exception for each of the many places that do not exist would take longer than all else.
    const found = statSync(real, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ path: real, isFolder: found.isDirectory() }];
  } catch {
    return [];
  }
}

/** The special places in folders and everything below them. */
export interface TreePlaces {
  /**
   * Files and folders that commands must not read, and named pipes: data written into one reaches its reader, wherever
   * the pipe is.
   */
  readonly hidden: readonly Place[];
  /** Files and folders from which other programs run something later. */
  readonly runsLater: readonly string[];
  /** Files and folders that a rule forbids to change. */
  readonly kept: readonly string[];
  /** Folders that cannot be listed: their contents are unknown, but a command that knows a name could open it. */
  readonly closed: readonly string[];
  /** False if there was too much to search. */
  readonly isComplete: boolean;
  /** False if there was too much to search in the folders of packages. */
  readonly hasAllPackages: boolean;
}

/** The limits of a search. */
export interface TreeLimits {
  readonly entries: number;
  readonly folders: number;
}

/** The tests for special places. */
export interface PlaceTests {
  isHidden(path: string, isFolder: boolean): boolean;
  isKept(path: string, isFolder: boolean): boolean;
  runsLater(path: string): boolean;
  /** Whether nothing is known of this entry, because it is not shown at all. */
  isAbsent(path: string): boolean;
  /** The tests in the folders of packages: what rules forbid to read, and repositories. */
  isDenied(path: string, isFolder: boolean): boolean;
  isRepository(path: string): boolean;
}

/** The limits take a few seconds the first time, and 150 ms for each later call. 5000 folders take 10 ms. */
export const TREE_LIMITS: TreeLimits = { entries: 1_000_000, folders: 50_000 };

/** How long a search may block the event loop, and with it keys and signals, in milliseconds. */
const SLICE_MS = 20;

/** A large folder that contains none of the user's own files. */
const PACKAGES = 'node_modules';

/** A folder that changed a moment ago may change again without a new timestamp. */
const SETTLED_MS = 100;

interface Folder {
  readonly changed: number;
  readonly entries: number;
  readonly hidden: readonly Place[];
  readonly runsLater: readonly string[];
  readonly kept: readonly string[];
  readonly folders: readonly string[];
  readonly packages: readonly string[];
  readonly isClosed: boolean;
}

/** Finds places below a folder, and remembers them: a folder is read again only when its time of change differs. */
export class TreeIndex {
  readonly #tests: PlaceTests;
  readonly #most: TreeLimits;
  readonly #known = new Map<string, Folder>();

  constructor(tests: PlaceTests, most = TREE_LIMITS) {
    this.#tests = tests;
    this.#most = most;
  }

  /**
   * Searches these folders without following links, and the folders of packages only if `entersPackages`. Rejects only
   * when `signal` fires.
   */
  async find(roots: readonly string[], signal?: AbortSignal, entersPackages = false): Promise<TreePlaces> {
    const found: Found = { hidden: [], runsLater: [], kept: [], closed: [], packages: [] };
    const isComplete = await this.#search([...roots], false, found, signal);
    const hasAllPackages = !entersPackages || (await this.#search([...found.packages], true, found, signal));
    const { packages: _, ...places } = found;
    return { ...places, isComplete, hasAllPackages };
  }

  /** Returns false if there is too much to search. */
  async #search(open: string[], ofPackages: boolean, into: Found, signal: AbortSignal | undefined): Promise<boolean> {
    let entries = 0;
    let begin = performance.now();
    for (const path of open) {
      const found = this.#folder(path, ofPackages);
      entries += found.entries;
      for (const place of found.hidden) into.hidden.push(place);
      for (const place of found.runsLater) into.runsLater.push(place);
      for (const place of found.kept) into.kept.push(place);
      for (const place of found.packages) into.packages.push(place);
      if (found.isClosed) into.closed.push(path);
      if (open.length > this.#most.folders || entries > this.#most.entries) return false;
      for (const below of found.folders) open.push(below);
      if (performance.now() - begin < SLICE_MS) continue;
      await setImmediate(null, { signal });
      begin = performance.now();
    }
    return true;
  }

  #folder(path: string, ofPackages: boolean): Folder {
    const changed = changeTime(path);
    const known = this.#known.get(path);
    if (known !== undefined && known.changed === changed) return known;
    const found = this.#read(path, changed, ofPackages);
    if (Date.now() - changed > SETTLED_MS) this.#known.set(path, found);
    return found;
  }

  #read(path: string, changed: number, ofPackages: boolean): Folder {
    const listed = entriesOf(path);
    const entries = listed ?? [];
    const names = new Set(entries.map(({ name }) => name));
    const hidden: Place[] = [];
    const [runsLater, kept, folders, packages]: [string[], string[], string[], string[]] = [[], [], [], []];
    // A bare repository: git takes its settings from the folder itself.
    if (isBareRepository(names)) runsLater.push(path);
    const { isAbsent, isHidden, isDenied, isKept, runsLater: runs, isRepository } = this.#tests;
    for (const entry of entries) {
      const place = join(path, entry.name);
      const isFolder = entry.isDirectory();
      if (isAbsent(place)) continue;
      if (isKept(place, isFolder)) kept.push(place);
      if ((ofPackages ? isRepository : runs)(place)) runsLater.push(place);
      if (entry.isFIFO() || (ofPackages ? isDenied : isHidden)(place, isFolder))
        for (const one of entry.isSymbolicLink() ? placeAt(place) : [{ path: place, isFolder }]) hidden.push(one);
      else if (isFolder && entry.name === PACKAGES && !ofPackages) packages.push(place);
      else if (isFolder && entry.name !== '.git') folders.push(place);
    }
    return { changed, entries: entries.length, hidden, runsLater, kept, folders, packages, isClosed: listed === null };
  }
}

/** What a search has found so far. */
interface Found {
  readonly hidden: Place[];
  readonly runsLater: string[];
  readonly kept: string[];
  readonly closed: string[];
  readonly packages: string[];
}

/**
 * Whether git takes its settings from a folder with these names. With `commondir` the objects are elsewhere, and so are
 * settings.
 */
const isBareRepository = (names: ReadonlySet<string>): boolean =>
  names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));

function changeTime(path: string): number {
  try {
    return lstatSync(path).ctimeMs;
  } catch {
    return Number.NaN;
  }
}

/** The entries of a folder; null if it cannot be listed, none where it no longer exists. */
function entriesOf(path: string): readonly Dirent[] | null {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (failure) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCode(failure) ?? '') ? [] : null;
  }
}
