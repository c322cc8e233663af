import { KINDS } from '../index/part.js';
import { type Accumulator, RUN } from './accumulator.js';
import { Best } from './best.js';
import { type Bounds, favourOf } from './bounds.js';
import { UNIT, type Weights } from './weigh.js';

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
 * Tuned on half of LoCoMo and on BEAM 100K, see docs/performance.md: the factors for neighbours and for the surrounding documents, in tenths, and for having
 * all terms.
 */
const TENTHS = 10;
const NEIGHBOUR = 2;
const WINDOW = 3;
const COVERAGE = 0.5;

/** Chooses the best documents by their own terms and those of their neighbours. The checks that rule out most documents use integers, see `UNIT`. */
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
  #next = 0;

  constructor(found: Accumulator, kinds: Uint8Array, weights: Weights, total: number, bounds: Bounds, limit: number) {
    this.#found = found;
    this.#kinds = kinds;
    this.#weights = weights;
    this.#total = total;
    this.#favour = Float32Array.from(KINDS, (kind) => favourOf(kind, bounds));
    this.#highest = this.#favour.reduce((most, one) => Math.max(most, one), 0);
    this.#least = UNIT * (((bounds.certain ?? 0) * total) / UNIT) ** (2 / 3);
    this.#best = new Best(limit);
  }

  /** Checks the next documents up to but not including `end`. All terms must have been added to them and to the run after them. */
  look(end: number, allowed: (document: number) => boolean): void {
    const { runs, peaks } = this.#found;
    const weights = this.#weights;
    let start = this.#next;
    this.#next = end;
    let least = this.#leastSum();
    // Most of a million documents are skipped: the terms and the highest score of a run bound its scores.
    for (let run = start / RUN + 1; start < end; start += RUN, run += 1) {
      const here = runs[run] ?? 0;
      const before = runs[run - 1] ?? 0;
      const after = runs[run + 1] ?? 0;
      if ((here | before | after) === 0) continue;
      const all = weights.of(here | before | after);
      if (all < this.#least) continue;
      const peak = peaks[run] ?? 0;
      const beside = Math.max(peak, peaks[run - 1] ?? 0, peaks[run + 1] ?? 0);
      const sum = TENTHS * peak + 2 * NEIGHBOUR * beside + WINDOW * all;
      if (sum <= least || this.#scoreOf(sum, this.#highest, all) <= this.#best.least) continue;
      const around = WINDOW * Math.max(weights.of(here | before), weights.of(here | after));
      this.#lookAt(start, Math.min(start + RUN, end), around, allowed);
      least = this.#leastSum();
    }
  }

  /** The best documents, best first. */
  taken(): readonly RankedDocument[] {
    return this.#best.taken().map(({ document, score }) => {
      const weight = this.#weightOf(document + 1);
      const terms = this.#found.masks[document + 1] ?? 0;
      return { document, score, terms, weight: weight / UNIT, coverage: weight / this.#total };
    });
  }

  #lookAt(start: number, end: number, around: number, allowed: (document: number) => boolean): void {
    const { scores, before } = this.#found;
    const [kinds, favour, best] = [this.#kinds, this.#favour, this.#best];
    let least = this.#leastSum();
    for (let place = start + 1; place <= end; place += 1) {
      const at = place - before;
      const near = TENTHS * (scores[at] ?? 0) + NEIGHBOUR * ((scores[at - 1] ?? 0) + (scores[at + 1] ?? 0));
      if (near === 0 || near + around <= least || !allowed(place - 1)) continue;
      const weight = this.#weightOf(place);
      if (weight < this.#least) continue;
      best.offer(place - 1, this.#scoreOf(near + around, favour[kinds[place - 1] ?? 0] ?? 1, weight));
      least = this.#leastSum();
    }
  }

  /** The score for a sum in tenths, terms with that weight, and the factor of the kind. */
  #scoreOf(sum: number, favour: number, weight: number): number {
    return ((sum * favour) / (TENTHS * UNIT)) * (1 - COVERAGE / 2 + (COVERAGE * weight) / this.#total);
  }

  /** Documents with a sum up to this are not among the best, whatever their kind and terms. */
  #leastSum(): number {
    return Math.floor((this.#best.least * TENTHS * UNIT) / (this.#highest * (1 + COVERAGE / 2)));
  }

  /** The weight of the terms in a document and its neighbours, in parts of a unit. */
  #weightOf(place: number): number {
    const { masks } = this.#found;
    return this.#weights.of((masks[place] ?? 0) | (masks[place - 1] ?? 0) | (masks[place + 1] ?? 0));
  }
}
