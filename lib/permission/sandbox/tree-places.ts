import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What the sandbox has to know of a folder and all that is below it. */
export interface TreePlaces {
  /** Files and folders that commands must not read. */
  readonly hidden: readonly string[];
  /** Files and folders from which other programs run something later. */
  readonly runsLater: readonly string[];
  /** False where there is more than could be looked through. */
  readonly isComplete: boolean;
}

/** What is looked for. */
export interface PlaceTests {
  isHidden(path: string): boolean;
  runsLater(path: string): boolean;
}

/** More than this is not looked through: about half a second the first time, and 10 ms for each later call. */
const MAX_ENTRIES = 100_000;
const MAX_FOLDERS = 5000;

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
}

/** Finds places in a folder, and remembers what it found: the time of change of a folder tells whether to read it again. */
export class TreeIndex {
  readonly #tests: PlaceTests;
  readonly #known = new Map<string, Folder>();

  constructor(tests: PlaceTests) {
    this.#tests = tests;
  }

  /** Looks through `root`. Follows no link. Never throws. */
  find(root: string): TreePlaces {
    const [hidden, runsLater]: [string[], string[]] = [[], []];
    const open = [root];
    let entries = 0;
    for (const path of open) {
      const found = this.#folder(path);
      entries += found.entries;
      for (const place of found.hidden) hidden.push(place);
      for (const place of found.runsLater) runsLater.push(place);
      if (open.length > MAX_FOLDERS || entries > MAX_ENTRIES) return { hidden, runsLater, isComplete: false };
      for (const below of found.folders) open.push(below);
    }
    return { hidden, runsLater, isComplete: true };
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
    const entries = entriesOf(path);
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
    return { changed, entries: entries.length, hidden, runsLater, folders };
  }
}

function changeTime(path: string): number {
  try {
    return lstatSync(path).ctimeMs;
  } catch {
    return Number.NaN;
  }
}

function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
