import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemCode } from '../../errors.js';

/** What the sandbox has to know of a folder and all that is below it. */
export interface TreePlaces {
  /** Files and folders that commands must not read. */
  readonly hidden: readonly string[];
  /** Files and folders from which other programs run something later. */
  readonly runsLater: readonly string[];
  /** Folders that cannot be listed: nobody can say what is in them, and whoever knows a name may open it. */
  readonly closed: readonly string[];
  /** False where there is more than could be looked through. */
  readonly isComplete: boolean;
}

/** What is looked through at most. */
export interface TreeLimits {
  readonly entries: number;
  readonly folders: number;
}

/** What is looked for. */
export interface PlaceTests {
  isHidden(path: string): boolean;
  runsLater(path: string): boolean;
}

/** More than this is not looked through: a few seconds the first time, and 150 ms for each later call. 5000 folders take 10 ms. */
export const TREE_LIMITS: TreeLimits = { entries: 1_000_000, folders: 50_000 };

/** So long is looked without a break, in milliseconds: keys and signals are heard in between. */
const SLICE_MS = 20;

/** Large, and holds no file of the user's own. */
const NOT_ENTERED = new Set(['.git', 'node_modules']);

/** A folder that changed a moment ago may change again within the same tick of its clock. */
const SETTLED_MS = 100;

interface Folder {
  readonly changed: number;
  readonly entries: number;
  readonly hidden: readonly string[];
  readonly runsLater: readonly string[];
  readonly folders: readonly string[];
  readonly isClosed: boolean;
}

/** Finds places in a folder, and keeps what it found: the time of change of a folder tells whether to read it again. */
export class TreeIndex {
  readonly #tests: PlaceTests;
  readonly #most: TreeLimits;
  readonly #known = new Map<string, Folder>();

  constructor(tests: PlaceTests, most = TREE_LIMITS) {
    this.#tests = tests;
    this.#most = most;
  }

  /** Looks through `root`. Follows no link. Rejects only when `signal` fires. */
  async find(root: string, signal?: AbortSignal): Promise<TreePlaces> {
    const [hidden, runsLater, closed]: [string[], string[], string[]] = [[], [], []];
    const open = [root];
    let entries = 0;
    let begin = performance.now();
    for (const path of open) {
      const found = this.#folder(path);
      entries += found.entries;
      for (const place of found.hidden) hidden.push(place);
      for (const place of found.runsLater) runsLater.push(place);
      if (found.isClosed) closed.push(path);
      if (open.length > this.#most.folders || entries > this.#most.entries)
        return { hidden, runsLater, closed, isComplete: false };
      for (const below of found.folders) open.push(below);
      if (performance.now() - begin < SLICE_MS) continue;
      await setImmediate(null, { signal });
      begin = performance.now();
    }
    return { hidden, runsLater, closed, isComplete: true };
  }

  #folder(path: string): Folder {
    const changed = changeTime(path);
    const known = this.#known.get(path);
    if (known !== undefined && known.changed === changed) return known;
    const found = this.#read(path, changed);
    if (Date.now() - changed > SETTLED_MS) this.#known.set(path, found);
    return found;
  }

  #read(path: string, changed: number): Folder {
    const listed = entriesOf(path);
    const entries = listed ?? [];
    const names = new Set(entries.map(({ name }) => name));
    const [hidden, runsLater, folders]: [string[], string[], string[]] = [[], [], []];
    // A bare repository: git takes its settings from the folder itself.
    if (names.has('HEAD') && names.has('objects') && names.has('refs')) runsLater.push(path);
    for (const entry of entries) {
      const place = join(path, entry.name);
      if (this.#tests.isHidden(place)) hidden.push(place);
      else if (entry.isDirectory() && !NOT_ENTERED.has(entry.name)) folders.push(place);
      if (this.#tests.runsLater(place)) runsLater.push(place);
    }
    return { changed, entries: entries.length, hidden, runsLater, folders, isClosed: listed === null };
  }
}

function changeTime(path: string): number {
  try {
    return lstatSync(path).ctimeMs;
  } catch {
    return Number.NaN;
  }
}

/** What is in a folder; null where it cannot be listed. One that is gone has nothing in it. */
function entriesOf(path: string): readonly Dirent[] | null {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (failure) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCode(failure) ?? '') ? [] : null;
  }
}
