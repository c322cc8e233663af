import { typedText } from '../chat/message.js';
import { monotonic } from '../clock.js';
import { askedIn, mayAsk } from './asked.js';
import { parseQuery } from './rank/query.js';
import { certainty } from './rank/rank.js';
import { whoIsAsked } from './rank/who-is-asked.js';
import { OWN_WORDS } from './recall-unasked.js';
import type { Library } from './searched-index.js';

/** So many old messages are asked about, and at least so many have to be there. */
const SAMPLE = 200;
const LEAST = 20;

/** What was said right before is about the same things. */
const APART = 200;
const DAYS_APART = 30;

/** So many of the old messages, which nobody asked to be answered from memory, would not have been spoken up to. */
const SILENT = 0.93;

/** Finds out how sure a search is of messages that did not ask for anything: a threshold for those that do. Works in slices. */
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

  /** Whether it holds for so many documents: what was said since it began changes little. */
  isAbout(documents: number): boolean {
    return documents >= this.#documents && documents < 1.1 * this.#documents;
  }

  /** Works for so many milliseconds; true when it is done. Throws what reading throws. */
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

  /** Null if there is too little to tell. */
  get certainty(): number | null {
    const sorted = this.#found.toSorted((one, other) => one - other);
    return sorted.length < LEAST
      ? null
      : (sorted[Math.min(sorted.length - 1, Math.floor(SILENT * sorted.length))] ?? null);
  }
}

/** How sure a search for an old message is of what was said long before it; null for one that would not be searched for. */
function certaintyBefore(library: Library, document: number): number | null {
  const message = library.message(document);
  const asked = message === null ? '' : askedIn(typedText(message.content));
  if (message === null || !mayAsk(asked)) return null;
  const { terms } = parseQuery(asked);
  const day = Math.floor(Date.parse(message.at) / 86_400_000) - DAYS_APART;
  const bounds = { ...OWN_WORDS, from: null, favour: whoIsAsked(asked), below: document - APART };
  const old = library.scores.best(terms, { ...bounds, until: day }, 1)[0];
  // A short life has nothing that old.
  const best = old ?? library.scores.best(terms, { ...bounds, until: null }, 1)[0];
  return best === undefined ? 0 : certainty(best);
}
