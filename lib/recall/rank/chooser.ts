import { KINDS } from '../index/part.js';
import { type Accumulator, RUN_BITS, UNIT, type Weights } from './accumulator.js';
import { type Bounds, favourOf } from './query.js';

/** A candidate of a search. */
export interface RankedDocument {
  /** Its number among all documents of all parts. */
  readonly document: number;
  readonly score: number;
  /** A bit for each of its terms. */
  readonly terms: number;
  /** The weight of the terms in it and its neighbours, and its share of the weight of all terms. */
  readonly weight: number;
  readonly coverage: number;
}

/**
 * Tuned on half of LoCoMo and on BEAM 100K, see docs/performance.md: the factors for neighbours and for the surrounding
 * documents, in tenths, and for having all terms.
 */
const TENTHS = 10;
const NEIGHBOUR = 2;
const WINDOW = 3;
const COVERAGE = 0.5;

/**
 * Chooses the best documents by their own terms and those of their neighbours. The checks that rule out most documents
 * use integers, see `UNIT`.
 */
export class Chooser {
  readonly #found: Accumulator;
  readonly #kinds: Uint8Array;
  readonly #weights: Weights;
  /** The weight of all terms, in parts of a unit. */
  readonly #total: number;
  readonly #favour: Float32Array;
  readonly #highest: number;
  /** The minimum weight, in parts of a unit. */
  readonly #least: number;
  readonly #best: Best;
  /** Documents with a sum up to this are not among the best, whatever their kind and terms. */
  #leastSum = 0;
  /**
   * The next place, and the sum of the document that was found last: its score, those of its neighbours, and the weight
   * of terms around it, in tenths.
   */
  #next: number;
  #sum = 0;

  constructor(found: Accumulator, kinds: Uint8Array, weights: Weights, total: number, bounds: Bounds, limit: number) {
    this.#found = found;
    this.#kinds = kinds;
    this.#weights = weights;
    this.#total = total;
    this.#favour = Float32Array.from(KINDS, (kind) => favourOf(kind, bounds));
    this.#highest = this.#favour.reduce((most, one) => Math.max(most, one), 0);
    this.#least = UNIT * (((bounds.certain ?? 0) * total) / UNIT) ** (2 / 3);
    this.#best = new Best(limit);
    this.#next = 1 + (bounds.above ?? 0);
  }

  /**
   * Checks the next documents up to but not including `end`. All terms must have been added to them and to the run
   * after them.
   */
  look(end: number, allowed: (document: number) => boolean): void {
    for (let place = this.#next; ; place += 1) {
      place = this.#nextPlace(place, end);
      if (place > end) break;
      if (allowed(place - 1)) this.#offer(place);
    }
    this.#next = Math.max(this.#next, end + 1);
  }

  /**
   * The first place from `first` to `last` of a document that may be among the best, a greater number for none. Most of
   * a million documents are skipped in runs, because the terms and the highest scores of runs bound their scores.
   * Nothing else is in these loops, so that V8 compiles them quickly.
   */
  #nextPlace(first: number, last: number): number {
    const { runs, peaks, scores, before } = this.#found;
    const weights = this.#weights;
    const kinds = this.#kinds;
    const favour = this.#favour;
    let place = first;
    while (place <= last) {
      const run = ((place - 1) >> RUN_BITS) + 1;
      const end = Math.min(run << RUN_BITS, last);
      const here = runs[run] ?? 0;
      const behind = runs[run - 1] ?? 0;
      const ahead = runs[run + 1] ?? 0;
      const all = weights.of(here | behind | ahead);
      const peak = peaks[run] ?? 0;
      const beside = Math.max(peak, peaks[run - 1] ?? 0, peaks[run + 1] ?? 0);
      if (TENTHS * peak + 2 * NEIGHBOUR * beside + WINDOW * all > this.#leastSum && all >= this.#least) {
        const around = WINDOW * Math.max(weights.of(here | behind), weights.of(here | ahead));
        const least = this.#leastWith(all);
        for (; place <= end; place += 1) {
          const at = place - before;
          const near = TENTHS * (scores[at] ?? 0) + NEIGHBOUR * ((scores[at - 1] ?? 0) + (scores[at + 1] ?? 0));
          if (near > 0 && (near + around) * (favour[kinds[place - 1] ?? 0] ?? 1) > least) {
            this.#sum = near + around;
            return place;
          }
        }
      }
      place = end + 1;
    }
    return place;
  }

  /** Offers the document that was found last. */
  #offer(place: number): void {
    const weight = this.#weightOf(place);
    if (weight < this.#least) return;
    const favour = this.#favour[this.#kinds[place - 1] ?? 0] ?? 1;
    const score = ((this.#sum * favour) / (TENTHS * UNIT)) * this.#factorOf(weight);
    const { least } = this.#best;
    this.#best.offer(place - 1, score);
    if (this.#best.least !== least) this.#leastSum = Math.floor(this.#leastWith(this.#total) / this.#highest);
  }

  /**
   * Documents with a sum times favour up to this are not among the best if they and their neighbours have terms of at
   * most that weight.
   */
  #leastWith(weight: number): number {
    return (this.#best.least * TENTHS * UNIT) / this.#factorOf(weight);
  }

  /** The factor for the share of the terms. */
  #factorOf(weight: number): number {
    return 1 - COVERAGE / 2 + (COVERAGE * weight) / this.#total;
  }

  /** The best documents, best first. */
  taken(): readonly RankedDocument[] {
    return this.#best.taken().map(({ document, score }) => {
      const weight = this.#weightOf(document + 1);
      const terms = this.#found.masks[document + 1] ?? 0;
      return { document, score, terms, weight: weight / UNIT, coverage: weight / this.#total };
    });
  }

  /** The weight of the terms in a document and its neighbours, in parts of a unit. */
  #weightOf(place: number): number {
    const { masks } = this.#found;
    return this.#weights.of((masks[place] ?? 0) | (masks[place - 1] ?? 0) | (masks[place + 1] ?? 0));
  }
}

/**
 * Keeps the highest scores, offered in document order. Sorts them out now and then, which V8 does natively; it would
 * have to compile a heap in each process.
 */
class Best {
  readonly #limit: number;
  readonly #documents: Uint32Array;
  readonly #scores: Float64Array;
  #count = 0;
  #least = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#documents = new Uint32Array(2 * limit);
    this.#scores = new Float64Array(2 * limit);
  }

  /** Scores up to this one are not kept. It rises now and then. */
  get least(): number {
    return this.#least;
  }

  offer(document: number, score: number): void {
    if (score <= this.#least) return;
    this.#documents[this.#count] = document;
    this.#scores[this.#count] = score;
    this.#count += 1;
    if (this.#count === this.#scores.length) this.#sortOut();
  }

  /** The best documents, best first; of equal ones, the newer one first. */
  taken(): readonly { readonly document: number; readonly score: number }[] {
    if (this.#count > this.#limit) this.#sortOut();
    const kept = Array.from(this.#documents.subarray(0, this.#count), (document, place) => {
      return { document, score: this.#scores[place] ?? 0 };
    });
    return kept.sort((one, other) => other.score - one.score || other.document - one.document);
  }

  /** Drops all but the best; of equal ones, the older ones. */
  #sortOut(): void {
    const sorted = this.#scores.slice(0, this.#count).sort();
    const over = this.#count - this.#limit;
    const least = sorted[over] ?? 0;
    let older = over - sorted.indexOf(least);
    const documents = this.#documents;
    const scores = this.#scores;
    let kept = 0;
    for (let place = 0; place < sorted.length; place += 1) {
      const score = scores[place] ?? 0;
      if (score < least || (score === least && older-- > 0)) continue;
      documents[kept] = documents[place] ?? 0;
      scores[kept] = score;
      kept += 1;
    }
    this.#count = kept;
    // A later document with the lowest score is newer and therefore better.
    this.#least = least * (1 - 1e-9);
  }
}
