import { type DocumentList, LENGTHS } from '../index/part.js';
import { FREQUENCIES } from '../index/postings.js';
import { countsOf } from './counts.js';
import type { Counted, FoundTerm } from './found-term.js';

/** Tuned on half of LoCoMo and on BEAM 100K; see docs/performance.md. */
const K1 = 0.9;
const B = 0.6;

/** Two of these runs of documents are looked at as one talk. */
const RUN_BITS = 3;
export const RUN = 1 << RUN_BITS;

/** So many documents are worked on at a time: what is known of them fits into the caches of a processor. A multiple of a run. */
export const TOGETHER = 16_384;

/** The documents that have one term equally often, as far as they were not added yet. */
interface Waiting {
  readonly start: number;
  readonly list: DocumentList;
  readonly bit: number;
  /** By the code of a length: how much the term adds. */
  readonly gains: Float32Array;
}

/**
 * What the terms of a search make of each document: its BM25 score, which is known of the documents that were worked on last and of the run before them, and a bit
 * for each term it has. By place, which is one more than the number of the document, so that each has neighbours; and for each run of documents all bits and the
 * highest score.
 */
export class Accumulator {
  /** By place, less `before`. */
  readonly scores: Float32Array;
  #before = 0;
  readonly masks: Uint32Array;
  readonly runs: Uint32Array;
  readonly peaks: Float32Array;
  readonly #lengths: Uint8Array;
  #counted: Counted | null = null;
  #waiting: readonly Waiting[] = [];
  /** By the code of a length: what a longer text takes from a word. */
  readonly #norms: Float32Array;

  constructor(lengths: Uint8Array) {
    const count = lengths.length;
    const runs = (count >> RUN_BITS) + 3;
    this.scores = new Float32Array(Math.min(count, TOGETHER) + RUN + 2);
    this.masks = new Uint32Array(count + 2);
    this.runs = new Uint32Array(runs);
    this.peaks = new Float32Array(runs);
    this.#lengths = lengths;
    const average = averageOf(lengths);
    this.#norms = LENGTHS.map((length) => K1 * (1 - B + (B * length) / average));
  }

  /** Makes what the terms, each by its bit, are to be added from. Only documents that count have them; null for all. */
  begin(terms: readonly (FoundTerm & { readonly weight: number })[], counted: Counted | null): void {
    this.#counted = counted;
    this.#waiting = terms.flatMap(({ lists, weight }, index) => {
      const gains = Array.from(FREQUENCIES, (frequency) =>
        this.#norms.map((norm) => (weight * (K1 + 1) * frequency) / (frequency + norm)),
      );
      return lists.flatMap(({ start, postings }) =>
        postings.lists().map((list) => ({ start, list, bit: 1 << index, gains: gains[list.code] ?? this.#norms })),
      );
    });
  }

  /** Adds all terms to the documents from `from` on and below `end`, the next in order: what is worked on together stays at hand. */
  addBetween(from: number, end: number): void {
    this.#moveTo(from, end);
    this.masks.fill(0, from + 1, end + 1);
    this.runs.fill(0, (from >> RUN_BITS) + 1, ((end - 1) >> RUN_BITS) + 2);
    this.peaks.fill(0, (from >> RUN_BITS) + 1, ((end - 1) >> RUN_BITS) + 2);
    for (const { start, list, bit, gains } of this.#waiting) {
      const count = list.readBelow(end - start);
      if (count > 0) this.#add(list.documents, count, start, bit, gains);
    }
  }

  /** The place of the first score. */
  get before(): number {
    return this.#before;
  }

  /** Keeps the scores of the last run and one more, and makes room for those of the next documents. */
  #moveTo(from: number, end: number): void {
    const before = Math.max(0, from - RUN);
    const known = from + 1 - before;
    if (from === 0) this.scores.fill(0);
    else this.scores.copyWithin(0, before - this.#before, before - this.#before + known);
    this.scores.fill(0, known, end + 2 - before);
    this.#before = before;
  }

  #add(documents: Uint32Array, count: number, start: number, bit: number, gains: Float32Array): void {
    const { scores, masks, runs, peaks } = this;
    const [lengths, counted, before] = [this.#lengths, this.#counted, this.#before];
    for (let index = 0; index < count; index += 1) {
      const document = start + (documents[index] ?? 0);
      const place = document + 1;
      const mask = masks[place] ?? 0;
      if ((mask & bit) !== 0 || (counted !== null && counted.wanted[counted.kinds[document] ?? 0] !== true)) continue;
      masks[place] = mask | bit;
      const run = (document >> RUN_BITS) + 1;
      runs[run] = (runs[run] ?? 0) | bit;
      const score = (scores[place - before] ?? 0) + (gains[lengths[document] ?? 0] ?? 0);
      scores[place - before] = score;
      if (score > (peaks[run] ?? 0)) peaks[run] = score;
    }
  }
}

function averageOf(lengths: Uint8Array): number {
  const total = countsOf(lengths).reduce((sum, count, code) => sum + count * (LENGTHS[code] ?? 0), 0);
  return lengths.length === 0 || total === 0 ? 1 : total / lengths.length;
}
