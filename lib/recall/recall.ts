import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Entry } from '../chat/entry.js';
import { HiError, systemCode } from '../errors.js';
import { monotonic } from '../waits.js';
import { calibrated, isComplete, isSampled } from './calibrate.js';
import { IndexFolder } from './disk/index-folder.js';
import { DamagedSegment } from './disk/pages.js';
import { find } from './find-messages.js';
import type { Archive } from './index/documents.js';
import {
  checkUntil,
  type Known,
  readCalibration,
  recallUnasked,
  type Thresholds,
  TooLate,
  UNCALIBRATED,
  writeCalibration,
} from './recall-unasked.js';
import {
  entriesAround,
  type Found,
  messagesAround,
  ORIGIN_REACH,
  originOf,
  type Reminded,
  type Said,
  type Search,
} from './search.js';
import { KeptLibrary, KeptTail, partsOf, type Volume } from './searched-index.js';

/** The conversation on disk. */
interface SearchedHistory {
  /** Opens it for reading. */
  reading(): Promise<Archive>;
  /** Runs `work` while no other process forgets anything. */
  undisturbed<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Called when the search is closed. */
  close?(): void;
}

/** The dependencies of recall. */
export interface RecallDeps {
  /** The folder of the index. */
  readonly folder: string;
  readonly history: SearchedHistory;
  /** The imported book that it is; absent for the conversation. */
  readonly book?: string;
  /** False if nothing may be written. Then only indexed and unsealed messages are found. */
  readonly writes: boolean;
  /** Whether a search first indexes all that is missing, however long that takes; else it spends some seconds on it. */
  readonly indexesAll?: boolean;
  /** Called after each piece that is indexed: how many of all pieces are now. */
  onIndexed?(done: number, all: number): void;
}

/**
 * How long a search may index missing pieces, in milliseconds, and the number of pieces that it indexes in any case, so
 * that a short history is searched completely. Forgetting removes the whole index, and what is found after it should
 * not depend on that. Automatic recall delays every question, and books are indexed when they are imported.
 */
const SEARCH_BUDGET = 5000;
const SEARCHED_ANYWAY = 16;
const UNASKED_BUDGET = 1000;

/**
 * How often the conversation is opened because something was removed of it, or of its index, while it was being
 * indexed, or was damaged; and after how many openings nobody may forget anything until it is read.
 */
const OPENINGS = 9;
const DISTURBED_OPENINGS = 3;

/** How long long work goes on before it lets others work, and before it says how far it is, in milliseconds. */
const SLICE = 100;
const STEP = 500;

/** Thrown when something was removed meanwhile, so that parts of the opened conversation cannot be indexed. */
class Outdated extends Error {}

/**
 * Indexes missing pieces for `budget` milliseconds, and at least so many. Resolves to the failure that ended it, or
 * null. Throws `Outdated`, but not in the last opening.
 */
type IndexMissing = (budget: number, least?: number, signal?: AbortSignal) => Promise<unknown>;

/** What finds earlier messages: in the conversation, or in imported books too. */
export type Finder = Pick<
  Recall,
  'search' | 'around' | 'placeOf' | 'catchUp' | 'indexAll' | 'rebuild' | 'remind' | 'calibrate' | 'close'
>;

/** What is searched of a conversation, and what is known of its index. */
export interface Opened extends Volume {
  readonly thresholds: Thresholds;
  /** The number of pieces that are not indexed. */
  readonly missing: number;
}

/** Finds earlier messages. Opens nothing before the first call. */
export class Recall {
  readonly #deps: RecallDeps;
  #folder: IndexFolder | null = null;
  #log: string | null = null;
  readonly #tail = new KeptTail();
  readonly #library = new KeptLibrary();
  #isReady = false;

  constructor(deps: RecallDeps) {
    this.#deps = deps;
  }

  /** Whether everything was indexed and measured when it was last opened. */
  get isReady(): boolean {
    return this.#isReady;
  }

  async search(search: Search, signal?: AbortSignal): Promise<Found> {
    return await this.#reading(async (archive, index) => {
      await index(this.#budget(SEARCH_BUDGET), SEARCHED_ANYWAY, signal);
      for (;;) {
        const folder = this.#folderOf(archive);
        const library = this.#library.of([this.#volumeOf(archive)]);
        try {
          const found = await find(library, search, signal);
          const missing = folder.missing(archive.pieces).length;
          await this.#keepTail(archive);
          return { ...found, unsearched: archive.pieces.length === 0 ? 0 : missing / archive.pieces.length };
        } catch (thrown) {
          if (!(thrown instanceof DamagedSegment)) throw thrown;
          this.dropDamaged();
          await index(SEARCH_BUDGET, SEARCHED_ANYWAY, signal);
        }
      }
    });
  }

  /** Runs `work` with what is searched, after indexing what is missing, as far as a search does. */
  async opened<Result>(work: (opened: Opened) => Promise<Result>): Promise<Result> {
    return await this.#reading(async (archive, index) => {
      await index(this.#budget(UNASKED_BUDGET), SEARCHED_ANYWAY);
      const volume = this.#volumeOf(archive);
      const folder = this.#folderOf(archive);
      const calibration = readCalibration(folder.path);
      const count = partsOf(volume).reduce((sum, part) => sum + part.count, 0);
      const missing = folder.missing(archive.pieces).length;
      this.#isReady = missing === 0 && isSampled(calibration, count);
      return await work({ ...volume, thresholds: calibration?.thresholds ?? UNCALIBRATED, missing });
    });
  }

  /** The message with that id and those before and after it, oldest first. */
  async around(id: number, before: number, after: number): Promise<readonly Said[]> {
    return await this.#reading(async (archive) => {
      const messages = messagesAround(archive, id, before, after);
      const leading = messagesAround(archive, messages[0]?.id ?? id, ORIGIN_REACH, 0);
      const all = () => [...leading, ...messages];
      return messages.map((message) => ({ message, origin: originOf(message, all) }));
    });
  }

  /**
   * The message or compaction with that id, among up to `reach` messages before and after it; empty if there is
   * neither. A conversation has no `book`.
   */
  async placeOf(id: number, reach: number, book: string | null = null): Promise<readonly Entry[]> {
    if (book !== null) return [];
    return await this.#reading(async (archive) => entriesAround(archive, id, reach));
  }

  /** Indexes missing pieces for `budget` milliseconds. Resolves to the number of pieces left. */
  async catchUp(budget: number): Promise<number> {
    return await this.#reading(async (archive, index) => {
      await index(budget);
      return this.#folderOf(archive).missing(archive.pieces).length;
    });
  }

  /** Indexes all missing pieces, if they can be. Yields the number of pieces left twice a second. */
  async *indexAll(signal: AbortSignal): AsyncGenerator<number> {
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      const left = await this.catchUp(STEP);
      signal.throwIfAborted();
      if (left === 0 || left >= before) return;
      before = left;
      yield left;
    }
  }

  /** Makes the whole index of a conversation that nobody continues as small and quick as it can be. */
  async join(): Promise<void> {
    await this.#reading(async (archive) => {
      const folder = this.#folderOf(archive);
      folder.look(archive.pieces, this.#deps.writes);
      if (this.#deps.writes) await folder.join(archive);
    });
  }

  /** Rebuilds the index. Resolves to the number of pieces. Throws a `HiError` if the index cannot be written. */
  async rebuild(signal: AbortSignal): Promise<number> {
    let isCleared = false;
    return await this.#reading(async (archive, index) => {
      const folder = this.#folderOf(archive);
      if (!isCleared) folder.clear();
      isCleared = true;
      this.#isReady = false;
      this.#tail.close();
      this.#library.clear();
      while (folder.missing(archive.pieces).length > 0) {
        signal.throwIfAborted();
        const cause = await index(SLICE);
        if (cause !== null) {
          throw new HiError('history', `The index in '${this.#deps.folder}' cannot be written.`, {
            hint: 'Check the folder and its disk. Until then only the newest messages are found.',
            cause,
          });
        }
        await nextTurn();
      }
      this.#tail.of(archive, folder.path, () => true);
      await this.#keepTail(archive);
      return archive.pieces.length;
    });
  }

  /**
   * The earlier passages for a message, of at most so many tokens; `late` if the search was not over at the time `end`.
   */
  async remind(asked: string, known: Known, tokens: number, end: number): Promise<Reminded | 'late'> {
    return await this.#reading(async (archive, index) => {
      const folder = this.#folderOf(archive);
      try {
        await index(UNASKED_BUDGET);
        const library = this.#library.of([this.#volumeOf(archive)]);
        const thresholds = readCalibration(folder.path)?.thresholds ?? UNCALIBRATED;
        return { ...recallUnasked(library, asked, thresholds, tokens, known, checkUntil(end)), thresholds };
      } catch (thrown) {
        if (thrown instanceof TooLate) return 'late';
        throw thrown;
      }
    });
  }

  /** Measures the thresholds of automatic recall for `budget` milliseconds; true when that is done. */
  async calibrate(budget: number, signal?: AbortSignal): Promise<boolean> {
    return await this.#reading(async (archive) => {
      const folder = this.#folderOf(archive);
      folder.look(archive.pieces, this.#deps.writes);
      const library = this.#library.of([this.#volumeOf(archive)]);
      await this.#keepTail(archive);
      const stored = readCalibration(folder.path);
      this.#isReady = !this.#deps.writes || isComplete(library, stored);
      if (this.#isReady) return true;
      let known = stored;
      for (const end = monotonic() + budget; !isComplete(library, known); await nextTurn()) {
        signal?.throwIfAborted();
        known = calibrated(library, known, Math.min(SLICE, end - monotonic()));
        if (monotonic() >= end) break;
      }
      if (known !== null && known !== stored) writeCalibration(folder.path, known);
      this.#isReady = isComplete(library, known);
      return this.#isReady;
    });
  }

  close(): void {
    this.#leave();
    this.#deps.history.close?.();
  }

  #leave(): void {
    this.#folder?.close();
    this.#folder = null;
    this.#tail.close();
    this.#library.clear();
  }

  /** The budget of a search that usually has so much. */
  #budget(usual: number): number {
    return this.#deps.indexesAll === true ? Number.POSITIVE_INFINITY : usual;
  }

  /**
   * Runs `work` with the conversation as it is at one moment; again, as it is then, if something was removed meanwhile,
   * or was damaged and is repaired.
   */
  async #reading<Result>(work: (archive: Archive, index: IndexMissing) => Promise<Result>): Promise<Result> {
    const openFrom = async (first: number, last: number): Promise<{ readonly result: Result } | null> => {
      for (let openings = first; openings <= last; openings += 1) {
        const archive = await this.#deps.history.reading();
        try {
          const result = await work(archive, async (budget, least, signal) => {
            const failure = await this.#index(archive, budget, least, signal);
            if (failure instanceof Outdated && openings < OPENINGS) throw failure;
            return failure;
          });
          return { result };
        } catch (thrown) {
          if (openings === OPENINGS) throw thrown;
          if (!(thrown instanceof Outdated)) await archive.recover(thrown);
        } finally {
          archive.close();
        }
      }
      return null;
    };
    const read =
      (await openFrom(1, DISTURBED_OPENINGS)) ??
      (await this.#deps.history.undisturbed(async () => await openFrom(DISTURBED_OPENINGS + 1, OPENINGS)));
    if (read === null) throw new Error('The last opening neither read nor failed.');
    return read.result;
  }

  #folderOf({ log }: Archive): IndexFolder {
    if (this.#folder === null || this.#log !== log) {
      this.#leave();
      this.#folder = new IndexFolder(this.#deps.folder, log);
      this.#log = log;
      if (this.#deps.writes) this.#folder.removeOrphans();
    }
    return this.#folder;
  }

  /** Stores the index of the tail. Errors are ignored, because it only saves time. */
  async #keepTail(archive: Archive): Promise<void> {
    try {
      if (this.#deps.writes) await this.#tail.keep(archive);
    } catch (thrown) {
      if (!isUnwritten(thrown)) throw thrown;
    }
  }

  #volumeOf(archive: Archive): Volume {
    const { path, segments } = this.#folderOf(archive);
    return { archive, segments, tail: this.#tail.of(archive, path, () => true), book: this.#deps.book ?? null };
  }

  /**
   * Indexes the newest pieces first, because they are needed most. Unreadable pieces are left for later, and all if
   * nothing can be written. Resolves to the failure then, `Outdated` if something was removed meanwhile, else to null.
   */
  async #index(archive: Archive, budget: number, least = 1, signal?: AbortSignal): Promise<unknown> {
    const folder = this.#folderOf(archive);
    const { writes } = this.#deps;
    folder.look(archive.pieces, writes);
    if (!writes) return null;
    const end = monotonic() + budget;
    const missing = folder.missing(archive.pieces).toReversed();
    const all = archive.pieces.length;
    let rested = monotonic();
    try {
      if (missing.length === 0) await folder.mergeAll(archive);
      for (let done = 0; done < missing.length; ) {
        signal?.throwIfAborted();
        const built = await folder.add(archive, missing[done] ?? 0, budget >= STEP);
        if (built === 0) return new Outdated();
        done += built;
        this.#deps.onIndexed?.(all - missing.length + done, all);
        if (done >= least && monotonic() > end) break;
        if (monotonic() - rested < SLICE) continue;
        await nextTurn();
        rested = monotonic();
      }
      return null;
    } catch (thrown) {
      if (!isUnwritten(thrown) && !(thrown instanceof DamagedSegment)) throw thrown;
      // Another process may have removed an unfinished file, or the whole index.
      return isMissing(thrown) ? new Outdated() : thrown;
    }
  }

  /** Removes what is damaged of the index, so that it is built again. Reads all of it. */
  dropDamaged(): void {
    for (const segment of this.#folder?.segments ?? []) if (!segment.isSound()) this.#folder?.discard(segment);
    this.#tail.dropDamaged();
  }
}

/** Whether a failure only means that a file of the index was not written, or was removed meanwhile. */
const isUnwritten = (thrown: unknown): boolean => thrown instanceof HiError || systemCode(thrown) !== null;

/** Whether a failure only means that a file was not there. */
const isMissing = (thrown: unknown): boolean =>
  systemCode(thrown instanceof HiError ? thrown.cause : thrown) === 'ENOENT';
