import {
  Arena,
  BEYOND,
  type DocumentList,
  FREQUENCIES,
  type IndexPart,
  LENGTHS,
  type Postings,
} from '../index/part.js';
import { isCharacter, otherForms, type Term } from './query.js';

/** Tuned on half of LoCoMo and on BEAM 100K; see docs/performance.md. */
const K1 = 0.9;
const B = 0.6;

/** The size of a run of documents, as a power of two. Two runs count as one talk. */
export const RUN_BITS = 3;
export const RUN = 1 << RUN_BITS;

/**
 * The number of documents processed at a time, so that their data fits into a processor's caches. A multiple of a run.
 */
export const TOGETHER = 16_384;

/** A term to add: its bit, its weight in parts of a unit, and its documents. */
export type AddedTerm = FoundTerm & { readonly bit: number; readonly weight: number };

/** The documents of a part with the same frequency of a term that were not added yet. */
interface Waiting {
  readonly list: DocumentList;
  readonly term: AddedTerm;
}

/**
 * The result of a search for each document: its BM25 score in parts of a unit, which is available for the documents
 * processed last and the run before them, and a bit for each of its terms. Indexed by place, which is one more than the
 * number of the document, so that each has neighbours. Also, for each run of documents, all bits and the highest score.
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
  /** By frequency code and length code: the score of a word of weight 1, in parts of a unit. */
  readonly #gains: Int32Array;
  /** The data of the current part. */
  readonly #arena = new Arena();
  #counted: Counted | null = null;
  #terms: readonly AddedTerm[] = [];
  #waiting: Waiting[] = [];
  /** The current part, and its first document. */
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

  /** Begins a search for these terms. Only documents that count get them; null for all. */
  begin(terms: readonly AddedTerm[], counted: Counted | null): void {
    this.#counted = counted;
    this.#terms = terms;
    this.#waiting = [];
    this.#part = -1;
  }

  /** Adds all terms to the next documents, from `from` up to but not including `end`. Throws read errors. */
  addBetween(from: number, end: number): void {
    this.#moveTo(from, end);
    this.masks.fill(0, from + 1, end + 1);
    this.runs.fill(0, (from >> RUN_BITS) + 1, ((end - 1) >> RUN_BITS) + 2);
    this.peaks.fill(0, (from >> RUN_BITS) + 1, ((end - 1) >> RUN_BITS) + 2);
    do {
      for (const { list, term } of this.#waiting) {
        const count = list.readBelow(end - this.#start);
        if (count > 0) this.#add(list.documents, list.first, count, list.code, term);
      }
    } while (this.#openNext(end));
  }

  /**
   * The last run from `last` back to `first` with all these terms, a smaller number for none. Most runs lack one of
   * them.
   */
  lastRunWith(terms: number, first: number, last: number): number {
    const { runs } = this;
    let run = last;
    while (run >= first && ((runs[run] ?? 0) & terms) !== terms) run -= 1;
    return run;
  }

  /** The place of the first score. */
  get before(): number {
    return this.#before;
  }

  /**
   * Continues with the next part if it begins below `end`. The previous part is then finished: only one part is in
   * memory at a time.
   */
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

  /** Keeps the scores of the last run and one more, and makes room for the next documents. */
  #moveTo(from: number, end: number): void {
    const before = Math.max(0, from - RUN);
    const known = from + 1 - before;
    if (from === 0) this.scores.fill(0);
    else this.scores.copyWithin(0, before - this.#before, before - this.#before + known);
    this.scores.fill(0, known, end + 2 - before);
    this.#before = before;
  }

  /** Takes the parts of a list, because V8 would compile it again for each class of lists. */
  #add(documents: Uint32Array, first: number, count: number, code: number, { bit, weight }: AddedTerm): void {
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
      // Even a word in nearly all documents counts a little.
      const gain = ((weight * (gains[(code << 8) | (lengths[document] ?? 0)] ?? 0)) >> UNIT_BITS) + 1;
      const score = (scores[place - before] ?? 0) + gain;
      scores[place - before] = score;
      if (score > (peaks[run] ?? 0)) peaks[run] = score;
    }
  }
}

/**
 * Weights and scores are integers in units of 1/4096: until V8 compiles a loop, it allocates every fraction on the
 * heap, a million times in the first search.
 */
export const UNIT = 4096;
const UNIT_BITS = Math.log2(UNIT);

/** BM25: each repetition of a word adds less, and words in longer texts count less. */
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

/** The number of masks of one byte. */
const BYTE = 256;

/**
 * The total weight of the terms in a mask, in parts of a unit. Uses a table for each byte, because a long history needs
 * a million sums.
 */
export class Weights {
  readonly #sums = new Int32Array(4 * BYTE);

  /** `weights` of the terms, by bit. */
  constructor(weights: readonly number[]) {
    const sums = this.#sums;
    // Each weight doubles the finished part of its table.
    weights.forEach((weight, index) => {
      const first = BYTE * (index >> 3);
      const size = 1 << (index & 7);
      for (let at = first; at < first + size; at += 1) sums[at + size] = (sums[at] ?? 0) + weight;
    });
  }

  of(mask: number): number {
    const sums = this.#sums;
    const lower = (sums[mask & 255] ?? 0) + (sums[BYTE + ((mask >>> 8) & 255)] ?? 0);
    if (mask >>> 16 === 0) return lower;
    return lower + (sums[2 * BYTE + ((mask >>> 16) & 255)] ?? 0) + (sums[3 * BYTE + (mask >>> 24)] ?? 0);
  }
}

/** The documents that contain a term, by part. */
interface FoundTerm {
  /** The number of documents. */
  readonly count: number;
  /** Several for one part if the term has several forms. */
  readonly lists: readonly { readonly part: number; readonly postings: Postings }[];
}

/**
 * Decides which documents count: the kind of each, whether each kind is wanted, and by part whether nearly all of it
 * do.
 */
export interface Counted {
  readonly kinds: Uint8Array;
  readonly wanted: readonly boolean[];
  readonly whole: readonly boolean[];
}

/** The searched parts, each with the number of its first document. */
export type PlacedParts = readonly { readonly part: IndexPart; readonly start: number }[];

/**
 * Looks up a term. Tries other spellings and longer words only if the word does not occur. `counted` says which
 * documents count; null for all.
 */
export function findTerm(parts: PlacedParts, term: Term, counted: Counted | null): FoundTerm {
  const found = isCharacter(term) ? null : findForms(parts, term.forms, counted);
  if (found !== null && found.count > 0) return found;
  const others = otherForms(
    parts.map(({ part }) => part),
    term,
  );
  return findForms(parts, others, counted);
}

function findForms(parts: PlacedParts, forms: readonly string[], counted: Counted | null): FoundTerm {
  const lists: { readonly part: number; readonly postings: Postings }[] = [];
  let count = 0;
  for (const [number, { part, start }] of parts.entries()) {
    let most = 0;
    for (const form of forms) {
      const postings = part.find(form);
      if (postings === null) continue;
      lists.push({ part: number, postings });
      // Two spellings of one word are in the same documents.
      const isWhole = counted === null || counted.whole[number] === true;
      most = Math.max(most, isWhole ? postings.count : countIn(postings, start, counted));
    }
    count += most;
  }
  return { count, lists };
}

/** Memory for counting, which needs the lists only briefly. */
const counting = new Arena();

function countIn(postings: Postings, start: number, { kinds, wanted }: Counted): number {
  let sum = 0;
  counting.clear();
  for (const list of postings.lists(counting)) {
    const count = list.readBelow(BEYOND);
    const { documents, first } = list;
    for (let index = first; index < first + count; index += 1) {
      if (wanted[kinds[start + (documents[index] ?? 0)] ?? 0] === true) sum += 1;
    }
  }
  return sum;
}

/** The weight of a word in `found` of `all` documents, in parts of a unit. */
export function weightOf(found: number, all: number): number {
  return Math.ceil(UNIT * Math.log(1 + (all - found + 0.5) / (found + 0.5)));
}
