import { monotonic } from '../clock.js';
import { systemCode } from '../errors.js';
import { messagesAround } from './around.js';
import { Calibration } from './calibrate.js';
import { IndexFolder } from './disk/index-folder.js';
import { DamagedSegment } from './disk/pages.js';
import type { Segment } from './disk/segment.js';
import { find } from './find-messages.js';
import type { Archive } from './index/archive.js';
import type { IndexPart } from './index/part.js';
import { KeptTail } from './kept-tail.js';
import { ORIGIN_REACH, originOf } from './origin.js';
import { Scores } from './rank/scores.js';
import { type Known, recallUnasked } from './recall-unasked.js';
import type { Found, Reminded, Said, Search } from './search.js';
import { Library } from './searched-index.js';
import { isOutdated, readThreshold, writeThreshold } from './threshold.js';

/** What finding needs. */
export interface RecallDeps {
  /** Where the index is kept. */
  readonly folder: string;
  /** Opens the conversation for reading. */
  open(): Promise<Archive>;
  /** False if nothing may be written: then only what is indexed already is found, and what is not sealed. */
  readonly writes: boolean;
}

/** For so long a search may index what is missing, in milliseconds; and so many pieces however long that takes: a short history is searched whole. */
const SEARCH_BUDGET = 1000;
const SEARCHED_ANYWAY = 16;

/** The same where a part of the index was found damaged: what was found before is to be found again. */
const REPAIR_BUDGET = 5000;

/** Thrown where the time is over; what was opened stays open for the next time. */
class TooLate extends Error {}

/** Finds what was ever said. Nothing is opened before the first call. */
export class Recall {
  readonly #deps: RecallDeps;
  #folder: IndexFolder | null = null;
  #log: string | null = null;
  readonly #tail = new KeptTail();
  #calibration: Calibration | null = null;
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
          this.#keepTail(archive);
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
      const messages = messagesAround(archive, id, before, after);
      const leading = messagesAround(archive, messages[0]?.id ?? id, ORIGIN_REACH, 0);
      const all = () => [...leading, ...messages];
      return messages.map((message) => ({ message, origin: originOf(message, all) }));
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
      this.#tail.of(archive, folder.path, () => true);
      this.#keepTail(archive);
      return all;
    });
  }

  /** What a message may be reminded of, by the time `end`; `uncalibrated` where it was not found out yet when to speak up. */
  async remind(asked: string, known: Known, end: number): Promise<Reminded | 'late' | 'uncalibrated'> {
    const begin = monotonic();
    const check = (): void => {
      if (monotonic() > end) throw new TooLate();
    };
    return await this.#reading(async (archive) => {
      const folder = this.#folderOf(archive);
      const threshold = readThreshold(folder.path);
      if (threshold === null) return 'uncalibrated';
      try {
        check();
        folder.look(archive.pieces, false);
        check();
        // What is left of the time is for the search: the newest, which are mostly in view, wait for the next message.
        const library = this.#libraryOf(archive, folder.segments, () => monotonic() < (begin + end) / 2);
        check();
        const { certainty } = threshold;
        const reminded = recallUnasked(library, asked, certainty, known, check);
        return this.#tail.holds(archive) || reminded.reminders.length > 0
          ? { ...reminded, threshold: certainty }
          : 'late';
      } catch (thrown) {
        if (thrown instanceof TooLate) return 'late';
        throw thrown;
      }
    });
  }

  /** Finds out for so many milliseconds when to speak up unasked; true when that is known. */
  async calibrate(budget: number): Promise<boolean> {
    return await this.#reading(async (archive) => {
      const folder = this.#folderOf(archive);
      folder.look(archive.pieces, this.#deps.writes);
      const library = this.#libraryOf(archive, folder.segments);
      this.#keepTail(archive);
      const { count } = library.scores;
      if (!this.#deps.writes || !isOutdated(readThreshold(folder.path), count)) return true;
      if (!this.#calibration?.isAbout(count)) this.#calibration = new Calibration(library);
      if (!this.#calibration.work(library, budget)) return false;
      const { certainty } = this.#calibration;
      this.#calibration = null;
      if (certainty !== null) writeThreshold(folder.path, { documents: count, certainty });
      return true;
    });
  }

  close(): void {
    this.#folder?.close();
    this.#folder = null;
    this.#tail.close();
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

  /** What saves time only may be left out: where the disk does not take it, the next process does the work again. */
  #keepTail(archive: Archive): void {
    try {
      if (this.#deps.writes) this.#tail.keep(archive);
    } catch (thrown) {
      if (systemCode(thrown) === null) throw thrown;
    }
  }

  /** What is scored with takes time and room to make: it is kept as long as nothing was added. */
  #libraryOf(archive: Archive, segments: readonly Segment[], hasTime = () => true): Library {
    const tail = this.#tail.of(archive, this.#folderOf(archive).path, hasTime);
    const parts = [...segments, ...tail.parts];
    const known = this.#scored;
    const isKnown =
      known?.count === tail.count &&
      known.parts.length === parts.length &&
      known.parts.every((part, index) => part === parts[index]);
    const scores = known !== null && isKnown ? known.scores : new Scores(parts);
    this.#scored = { parts, count: tail.count, scores };
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
    this.#tail.dropDamaged();
  }
}

/** False if the disk does not take it, or the history is damaged: what there is has to do. */
function added(folder: IndexFolder, archive: Archive, number: number): boolean {
  try {
    folder.add(archive, number);
    return true;
  } catch (thrown) {
    if (systemCode(thrown) === null && !(thrown instanceof Error && thrown.name === 'DamagedSegment')) throw thrown;
    return false;
  }
}
