import { LENGTHS } from '../index/part.js';
import { FREQUENCIES } from '../index/postings.js';
import type { FoundTerm } from './found-term.js';

/** Tuned on half of LoCoMo and on BEAM 100K; see docs/performance.md. */
const K1 = 0.9;
const B = 0.6;

/** Two of these runs of documents are looked at as one talk. */
const RUN_BITS = 3;
export const RUN = 1 << RUN_BITS;

/**
 * What the terms of a search make of each document: its BM25 score and a bit for each term it has. By place, which is one more than the number of the document,
 * so that each has neighbours; and for each run of documents all bits and the highest score.
 */
export class Accumulator {
  readonly scores: Float32Array;
  readonly masks: Uint32Array;
  readonly runs: Uint32Array;
  readonly peaks: Float32Array;
  readonly #kinds: Uint8Array;
  readonly #lengths: Uint8Array;
  /** By the code of a length: what a longer text takes from a word. */
  readonly #norms: Float32Array;

  constructor(kinds: Uint8Array, lengths: Uint8Array) {
    const count = lengths.length;
    const runs = (count >> RUN_BITS) + 3;
    this.scores = new Float32Array(count + 2);
    this.masks = new Uint32Array(count + 2);
    this.runs = new Uint32Array(runs);
    this.peaks = new Float32Array(runs);
    this.#kinds = kinds;
    this.#lengths = lengths;
    const average = averageOf(lengths);
    this.#norms = LENGTHS.map((length) => K1 * (1 - B + (B * length) / average));
  }

  clear(): void {
    this.scores.fill(0);
    this.masks.fill(0);
    this.runs.fill(0);
    this.peaks.fill(0);
  }

  /** Adds a term as bit `index`; only in documents of the kinds that are counted, null for all. */
  add({ lists }: FoundTerm, index: number, weight: number, counted: readonly boolean[] | null): void {
    for (const { start, postings } of lists) {
      postings.each((documents, count, code) => {
        const frequency = FREQUENCIES[code] ?? 1;
        const gains = this.#norms.map((norm) => (weight * (K1 + 1) * frequency) / (frequency + norm));
        this.#addAll(documents, count, start, 1 << index, gains, counted);
      });
    }
  }

  #addAll(
    documents: Uint32Array,
    count: number,
    start: number,
    bit: number,
    gains: Float32Array,
    counted: readonly boolean[] | null,
  ): void {
    const { scores, masks, runs, peaks } = this;
    const [kinds, lengths] = [this.#kinds, this.#lengths];
    for (let index = 0; index < count; index += 1) {
      const document = start + (documents[index] ?? 0);
      const place = document + 1;
      const mask = masks[place] ?? 0;
      if ((mask & bit) !== 0 || (counted !== null && counted[kinds[document] ?? 0] !== true)) continue;
      masks[place] = mask | bit;
      const run = (document >> RUN_BITS) + 1;
      runs[run] = (runs[run] ?? 0) | bit;
      const score = (scores[place] ?? 0) + (gains[lengths[document] ?? 0] ?? 0);
      scores[place] = score;
      if (score > (peaks[run] ?? 0)) peaks[run] = score;
    }
  }
}

function averageOf(lengths: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (let index = 0; index < lengths.length; index += 1) {
    const code = lengths[index] ?? 0;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  const total = counts.reduce((sum, count, code) => sum + count * (LENGTHS[code] ?? 0), 0);
  return lengths.length === 0 || total === 0 ? 1 : total / lengths.length;
}
