import { DamagedSegment } from './disk/pages.js';
import { find } from './find-messages.js';
import type { Opened, Recall } from './recall.js';
import { checkUntil, type Known, recallUnasked, type Thresholds, TooLate } from './recall-unasked.js';
import type { Found, Reminded, Search } from './search.js';
import { KeptLibrary, type Library, partsOf } from './searched-index.js';

/**
 * What is searched of several conversations, as one: words are as rare as they are in all of them, and only the best
 * messages of all are read.
 */
interface OpenedTogether {
  readonly library: Library;
  readonly all: readonly Opened[];
}

/** Searches several conversations as one. */
export class SeveralRecalls {
  readonly #library = new KeptLibrary();
  readonly #leaveOut: (one: Recall, thrown: unknown) => boolean;

  /** `leaveOut` is told what opening one threw, and returns whether the others are to be searched without it. */
  constructor(leaveOut: (one: Recall, thrown: unknown) => boolean) {
    this.#leaveOut = leaveOut;
  }

  /** What is found in all of them; null if none can be opened. */
  async search(recalls: readonly Recall[], search: Search, signal?: AbortSignal): Promise<Found | null> {
    return await this.#opened(recalls, async ({ library, all }) => {
      const found = await find(library, search, signal);
      const pieces = all.reduce((sum, { archive }) => sum + archive.pieces.length, 0);
      const missing = all.reduce((sum, one) => sum + one.missing, 0);
      return { ...found, unsearched: pieces === 0 ? 0 : missing / pieces };
    });
  }

  /**
   * The passages for a message, as `Recall.remind` finds them; null if none can be opened, or the search was not over
   * at the time `end`.
   */
  async remind(
    recalls: readonly Recall[],
    asked: string,
    known: Known,
    tokens: number,
    end: number,
  ): Promise<Reminded | null> {
    try {
      return await this.#opened(recalls, async ({ library, all }) => {
        const highest = (which: keyof Thresholds): number =>
          all.reduce((most, { thresholds }) => Math.max(most, thresholds[which]), 0);
        const thresholds = { whole: highest('whole'), newest: highest('newest') };
        return { ...recallUnasked(library, asked, thresholds, tokens, known, checkUntil(end)), thresholds };
      });
    } catch (thrown) {
      if (thrown instanceof TooLate) return null;
      throw thrown;
    }
  }

  /**
   * Runs `work` with all that can be opened, the one with the newest message last. Builds anew what is damaged of an
   * index.
   */
  async #opened<Result>(
    recalls: readonly Recall[],
    work: (opened: OpenedTogether) => Promise<Result>,
  ): Promise<Result | null> {
    const open = async (rest: readonly Recall[], all: readonly Opened[]): Promise<Result | null> => {
      const [next, ...others] = rest;
      if (next === undefined) {
        const sorted = all.toSorted((one, other) => lastDayOf(one) - lastDayOf(other));
        return all.length === 0 ? null : await work({ library: this.#library.of(sorted), all: sorted });
      }
      let isOpen = false;
      try {
        return await next.opened(async (opened) => {
          isOpen = true;
          return await open(others, [...all, opened]);
        });
      } catch (thrown) {
        if (isOpen || !this.#leaveOut(next, thrown)) throw thrown;
        return await open(others, all);
      }
    };
    try {
      return await open(recalls, []);
    } catch (thrown) {
      if (!(thrown instanceof DamagedSegment)) throw thrown;
      for (const one of recalls) one.dropDamaged();
      return await open(recalls, []);
    }
  }
}

/** The day of the last message, counted from 1970; 0 if there is none. */
const lastDayOf = (opened: Opened): number =>
  partsOf(opened)
    .findLast(({ count }) => count > 0)
    ?.days()
    .at(-1) ?? 0;
