import { monotonic } from '../clock.js';
import { systemCode } from '../errors.js';
import { messagesAround } from './around.js';
import { IndexFolder } from './disk/index-folder.js';
import { DamagedSegment } from './disk/pages.js';
import type { Segment } from './disk/segment.js';
import { find } from './find.js';
import type { Archive } from './index/archive.js';
import type { IndexPart } from './index/part.js';
import { Origins } from './origin.js';
import { Scores } from './rank/scores.js';
import type { Found, Said, Search } from './search.js';
import { Library } from './searched-index.js';
import { UnsealedTail } from './unsealed-tail.js';

/** What finding needs. */
export interface RecallDeps {
  /** Where the index is kept. */
  readonly folder: string;
  /** Opens the conversation for reading. */
  open(): Promise<Archive>;
  /** False where nothing may be written: then only what is indexed already is found, and what is not sealed. */
  readonly writes: boolean;
}

/** For so long a search may index what is missing, in milliseconds; and so many pieces however long that takes: a short history is searched whole. */
const SEARCH_BUDGET = 1000;
const SEARCHED_ANYWAY = 16;

/** The same where a part of the index was found damaged: what was found before is to be found again. */
const REPAIR_BUDGET = 5000;

/** Finds what was ever said. Nothing is opened before the first call. */
export class Recall {
  readonly #deps: RecallDeps;
  #folder: IndexFolder | null = null;
  #log: string | null = null;
  #tail: UnsealedTail | null = null;
  #tailVersion = '';
  #scored: { readonly parts: readonly IndexPart[]; readonly count: number; readonly scores: Scores } | null = null;

  constructor(deps: RecallDeps) {
    this.#deps = deps;
  }

  async search(search: Search, signal?: AbortSignal): Promise<Found> {
    return await this.#reading(async (archive) => {
      this.#index(archive, SEARCH_BUDGET, SEARCHED_ANYWAY);
      for (;;) {
        const folder = this.#folderOf(archive);
        const library = this.#libraryOf(archive, folder.segments);
        try {
          const found = await find(library, archive, search, signal);
          const missing = folder.missing(archive.pieces).length;
          return { ...found, unsearched: archive.pieces.length === 0 ? 0 : missing / archive.pieces.length };
        } catch (thrown) {
          if (!(thrown instanceof DamagedSegment)) throw thrown;
          this.#dropDamaged(folder);
          this.#index(archive, REPAIR_BUDGET, SEARCHED_ANYWAY);
        }
      }
    });
  }

  /** The messages before and after the one with that id, and it, oldest first. */
  async around(id: number, before: number, after: number): Promise<readonly Said[]> {
    return await this.#reading(async (archive) => {
      const origins = new Origins(archive);
      return messagesAround(archive, id, before, after).map((message) => ({ message, origin: origins.of(message) }));
    });
  }

  /** Indexes what is missing for so many milliseconds. Resolves to how many pieces are left. */
  async catchUp(budget: number): Promise<number> {
    return await this.#reading(async (archive) => {
      this.#index(archive, budget);
      return this.#folderOf(archive).missing(archive.pieces).length;
    });
  }

  /** Makes the index anew. Tells how many pieces are done, of how many; resolves to how many there are. */
  async rebuild(onProgress: (done: number, all: number) => void, signal: AbortSignal): Promise<number> {
    return await this.#reading(async (archive) => {
      const folder = this.#folderOf(archive);
      folder.look(archive.pieces, true);
      for (const segment of folder.segments) folder.discard(segment);
      const all = archive.pieces.length;
      for (let left = all; left > 0; ) {
        signal.throwIfAborted();
        this.#index(archive, 100);
        const now = folder.missing(archive.pieces).length;
        onProgress(all - now, all);
        if (now === left) break;
        left = now;
        await new Promise((resolve) => setImmediate(resolve));
      }
      return all;
    });
  }

  close(): void {
    this.#folder?.close();
    this.#folder = null;
    this.#tail = null;
    this.#scored = null;
  }

  async #reading<Result>(work: (archive: Archive) => Promise<Result>): Promise<Result> {
    const archive = await this.#deps.open();
    try {
      return await work(archive);
    } finally {
      archive.close();
    }
  }

  #folderOf({ log }: Archive): IndexFolder {
    if (this.#folder === null || this.#log !== log) {
      this.close();
      this.#folder = new IndexFolder(this.#deps.folder, log);
      this.#log = log;
      if (this.#deps.writes) this.#folder.removeOrphans();
    }
    return this.#folder;
  }

  #tailOf(archive: Archive): UnsealedTail {
    if (this.#tail !== null && this.#tailVersion === archive.restVersion) return this.#tail;
    const entries = archive.rest();
    if (this.#tail?.isBeginningOf(entries)) this.#tail.add(entries);
    else this.#tail = new UnsealedTail(entries);
    this.#tailVersion = archive.restVersion;
    return this.#tail;
  }

  /** What is scored with takes time and room to make: it is kept as long as nothing was added. */
  #libraryOf(archive: Archive, segments: readonly Segment[]): Library {
    const tail = this.#tailOf(archive);
    const parts = [...segments, tail.collector];
    const known = this.#scored;
    const isKnown =
      known?.count === tail.collector.count &&
      known.parts.length === parts.length &&
      known.parts.every((part, index) => part === parts[index]);
    const scores = known !== null && isKnown ? known.scores : new Scores(parts);
    this.#scored = { parts, count: tail.collector.count, scores };
    return new Library(archive, segments, tail, scores);
  }

  /** The newest first: they are asked for most. What cannot be read is left for another time. */
  #index(archive: Archive, budget: number, least = 1): void {
    const folder = this.#folderOf(archive);
    const { writes } = this.#deps;
    folder.look(archive.pieces, writes);
    if (!writes) return;
    const end = monotonic() + budget;
    for (const [done, number] of folder.missing(archive.pieces).toReversed().entries()) {
      if (!added(folder, archive, number) || (done + 1 >= least && monotonic() > end)) return;
    }
  }

  /** Which segment is damaged shows when each is read through. */
  #dropDamaged(folder: IndexFolder): void {
    for (const segment of folder.segments) if (!segment.isSound()) folder.discard(segment);
  }
}

/** False where the disk does not take it, or the history is damaged: what there is has to do. */
function added(folder: IndexFolder, archive: Archive, number: number): boolean {
  try {
    folder.add(archive, number);
    return true;
  } catch (thrown) {
    if (systemCode(thrown) === null && !(thrown instanceof Error && thrown.name === 'DamagedSegment')) throw thrown;
    return false;
  }
}
