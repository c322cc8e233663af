import { Arena } from '../index/arena.js';
import { type DocumentList, LENGTHS } from '../index/part.js';
import { FREQUENCIES } from '../index/postings.js';
import type { Counted, FoundTerm, PlacedParts } from './found-term.js';
import { UNIT } from './weigh.js';

/** Tuned on half of LoCoMo and on BEAM 100K; see docs/performance.md. */
const K1 = 0.9;
const B = 0.6;

/** Two of these runs of documents are looked at as one talk. */
const RUN_BITS = 3;
export const RUN = 1 << RUN_BITS;

/** So many documents are worked on at a time: what is known of them fits into the caches of a processor. A multiple of a run. */
export const TOGETHER = 16_384;

/** A term as it is added: its bit, what it weighs in parts of a unit, and where it is. */
export type AddedTerm = FoundTerm & { readonly bit: number; readonly weight: number };

/** The documents of a part that have one term equally often, as far as they were not added yet. */
interface Waiting {
  readonly list: DocumentList;
  readonly term: AddedTerm;
}

/**
 * What the terms of a search make of each document: its BM25 score in parts of a unit, which is known of the documents that were worked on last and of the run before
 * them, and a bit for each term it has. By place, which is one more than the number of the document, so that each has neighbours; and for each run of documents all
 * bits and the highest score.
 */
export class Accumulator {
  /** By place, less `before`. */
  readonly scores: Int32Array;
  #before = 0;
  readonly masks: Uint32Array;
  readonly runs: Uint32Array;
  readonly peaks: Int32Array;
  readonly #parts: PlacedParts;
  readonly #lengths: Uint8Array;
  /** By the code of a frequency and that of a length: what a word of weight 1 adds, in parts of a unit. */
  readonly #gains: Int32Array;
  /** What was read of the part that is worked on. */
  readonly #arena = new Arena();
  #counted: Counted | null = null;
  #terms: readonly AddedTerm[] = [];
  #waiting: Waiting[] = [];
  /** The part that is worked on, and where it begins. */
  #part = -1;
  #start = 0;

  constructor(parts: PlacedParts, lengths: Uint8Array) {
    const count = lengths.length;
    const words = parts.reduce((sum, { part }) => sum + part.wordCount(), 0);
    const runs = (count >> RUN_BITS) + 3;
    this.scores = new Int32Array(Math.min(count, TOGETHER) + RUN + 2);
    this.masks = new Uint32Array(count + 2);
    this.runs = new Uint32Array(runs);
    this.peaks = new Int32Array(runs);
    this.#parts = parts;
    this.#lengths = lengths;
    this.#gains = gainsFor(words === 0 ? 1 : words / count);
  }

  /** Makes what the terms are to be added from. Only documents that count have them; null for all. */
  begin(terms: readonly AddedTerm[], counted: Counted | null): void {
    this.#counted = counted;
    this.#terms = terms;
    this.#waiting = [];
    this.#part = -1;
  }

  /** Adds all terms to the documents from `from` on and below `end`, the next in order: what is worked on together stays at hand. Throws what reading throws. */
  addBetween(from: number, end: number): void {
    this.#moveTo(from, end);
    this.masks.fill(0, from + 1, end + 1);
    this.runs.fill(0, (from >> RUN_BITS) + 1, ((end - 1) >> RUN_BITS) + 2);
    this.peaks.fill(0, (from >> RUN_BITS) + 1, ((end - 1) >> RUN_BITS) + 2);
    do {
      for (const { list, term } of this.#waiting) {
        const count = list.readBelow(end - this.#start);
        if (count > 0) this.#add(list, count, term);
      }
    } while (this.#openNext(end));
  }

  /** The place of the first score. */
  get before(): number {
    return this.#before;
  }

  /** Goes on to the next part, if it begins below `end`; of the one before it all is added. One part at a time is held in memory. */
  #openNext(end: number): boolean {
    const next = this.#parts[this.#part + 1];
    if (next === undefined || next.start >= end) return false;
    this.#part += 1;
    this.#start = next.start;
    this.#arena.clear();
    this.#waiting = [];
    for (const term of this.#terms) {
      for (const { part, postings } of term.lists) {
        if (part !== this.#part) continue;
        for (const list of postings.lists(this.#arena)) this.#waiting.push({ list, term });
      }
    }
    return true;
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

  #add({ documents, first, code }: DocumentList, count: number, { bit, weight }: AddedTerm): void {
    const { scores, masks, runs, peaks } = this;
    const lengths = this.#lengths;
    const counted = this.#counted;
    const gains = this.#gains;
    const start = this.#start;
    const before = this.#before;
    for (let index = first; index < first + count; index += 1) {
      const document = start + (documents[index] ?? 0);
      const place = document + 1;
      const mask = masks[place] ?? 0;
      if ((mask & bit) !== 0 || (counted !== null && counted.wanted[counted.kinds[document] ?? 0] !== true)) continue;
      masks[place] = mask | bit;
      const run = (document >> RUN_BITS) + 1;
      runs[run] = (runs[run] ?? 0) | bit;
      // A word that is nearly everywhere counts for something, too.
      const gain = ((weight * (gains[(code << 8) | (lengths[document] ?? 0)] ?? 0)) >> UNIT_BITS) + 1;
      const score = (scores[place - before] ?? 0) + gain;
      scores[place - before] = score;
      if (score > (peaks[run] ?? 0)) peaks[run] = score;
    }
  }
}

const UNIT_BITS = Math.log2(UNIT);

/** BM25: a word counts less the more often it is there, and in a longer text. */
function gainsFor(average: number): Int32Array {
  const gains = new Int32Array(FREQUENCIES.length * LENGTHS.length);
  FREQUENCIES.forEach((frequency, code) => {
    LENGTHS.forEach((length, at) => {
      const norm = K1 * (1 - B + (B * length) / average);
      gains[code * LENGTHS.length + at] = Math.round((UNIT * (K1 + 1) * frequency) / (frequency + norm));
    });
  });
  return gains;
}
