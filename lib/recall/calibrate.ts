import { typedText } from '../chat/message.js';
import { monotonic } from '../clock.js';
import { askedIn, mayAsk } from './asked.js';
import { parseQuery } from './rank/query.js';
import { certainty } from './rank/rank.js';
import { whoIsAsked } from './rank/who-is-asked.js';
import { OWN_WORDS } from './recall-unasked.js';
import type { Library } from './searched-index.js';

/** The number of old messages to sample, and the minimum number that must exist. */
const SAMPLE = 200;
const LEAST = 20;

/** The minimum distance between a sampled message and its matches, because neighbouring messages are about the same subject. */
const APART = 200;
const DAYS_APART = 30;

/** The share of old messages that automatic recall would have ignored. None of them asked for it. */
const SILENT = 0.93;

/** Measures how certain search results are for messages that asked for nothing, which gives the threshold for automatic recall. Works in slices. */
export class Calibration {
  readonly #documents: number;
  readonly #waiting: number[];
  readonly #found: number[] = [];

  constructor({ scores }: Library) {
    this.#documents = scores.count;
    const said = scores.within({ kinds: ['user'], from: null, until: null, favour: {} });
    const later = said.slice(said.length >> 1).filter((document) => document >= APART);
    const step = Math.max(1, later.length / SAMPLE);
    this.#waiting = [];
    for (let at = 0; at < later.length; at += step) this.#waiting.push(later[Math.floor(at)] ?? 0);
  }

  /** Whether the calibration is valid for this number of documents: a few new messages change little. */
  isAbout(documents: number): boolean {
    return documents >= this.#documents && documents < 1.1 * this.#documents;
  }

  /** Works for `budget` milliseconds; true when it is done. Throws read errors. */
  work(library: Library, budget: number): boolean {
    const end = monotonic() + budget;
    while (this.#waiting.length > 0) {
      if (monotonic() > end) return false;
      const document = this.#waiting.pop();
      const sure = document === undefined ? null : certaintyBefore(library, document);
      if (sure !== null) this.#found.push(sure);
    }
    return true;
  }

  /** The threshold; null if there are too few messages. */
  get certainty(): number | null {
    const sorted = this.#found.toSorted((one, other) => one - other);
    return sorted.length < LEAST
      ? null
      : (sorted[Math.min(sorted.length - 1, Math.floor(SILENT * sorted.length))] ?? null);
  }
}

/** The certainty of the best match long before an old message; null for a message that would not start a search. */
function certaintyBefore(library: Library, document: number): number | null {
  const message = library.message(document);
  const asked = message === null ? '' : askedIn(typedText(message.content));
  if (message === null || !mayAsk(asked)) return null;
  const { terms } = parseQuery(asked);
  const day = Math.floor(Date.parse(message.at) / 86_400_000) - DAYS_APART;
  const bounds = { ...OWN_WORDS, from: null, favour: whoIsAsked(asked), below: document - APART };
  const old = library.scores.best(terms, { ...bounds, until: day }, 1)[0];
  // A short history has nothing that old.
  const best = old ?? library.scores.best(terms, { ...bounds, until: null }, 1)[0];
  return best === undefined ? 0 : certainty(best);
}
