import { KINDS } from '../index/part.js';
import { type Accumulator, RUN } from './accumulator.js';
import { Best } from './best.js';
import { type Bounds, favourOf } from './bounds.js';
import { UNIT, type Weights } from './weigh.js';

/** A document that may be what is looked for. */
export interface RankedDocument {
  /** Its number among all documents of all parts. */
  readonly document: number;
  readonly score: number;
  /** Which terms are in it, a bit for each. */
  readonly terms: number;
  /** What the terms weigh that it and its neighbours have, and the share of what all terms weigh. */
  readonly weight: number;
  readonly coverage: number;
}

/** Tuned on half of LoCoMo and on BEAM 100K, see docs/performance.md: what counts beside a document and around it, in tenths, and how much having all terms does. */
const TENTHS = 10;
const NEIGHBOUR = 2;
const WINDOW = 3;
const COVERAGE = 0.5;

/** Chooses the best documents by their own terms and by what stands beside and around each. What most documents are passed by with is counted in whole numbers, see `UNIT`. */
export class Chooser {
  readonly #found: Accumulator;
  readonly #kinds: Uint8Array;
  readonly #weights: Weights;
  /** What all terms weigh, in parts of a unit. */
  readonly #total: number;
  readonly #favour: Float32Array;
  readonly #highest: number;
  /** What weighs less is not certain enough. */
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

  /** Looks at the documents from where it stopped last and below `end`; all terms were added to them and to the run behind them. */
  look(end: number, allowed: (document: number) => boolean): void {
    const { runs, peaks } = this.#found;
    const weights = this.#weights;
    let start = this.#next;
    this.#next = end;
    let least = this.#leastSum();
    // Of a million documents most are passed by: what a run can reach at most is told by its terms and its highest score.
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

  /** The best, best first. */
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

  /** The score of a sum in tenths, of terms with that weight, in words that count so much. */
  #scoreOf(sum: number, favour: number, weight: number): number {
    return ((sum * favour) / (TENTHS * UNIT)) * (1 - COVERAGE / 2 + (COVERAGE * weight) / this.#total);
  }

  /** No sum up to that is among the best, whoever says it and whatever its terms weigh. */
  #leastSum(): number {
    return Math.floor((this.#best.least * TENTHS * UNIT) / (this.#highest * (1 + COVERAGE / 2)));
  }

  /** What the terms weigh that a document and its neighbours have, in parts of a unit. */
  #weightOf(place: number): number {
    const { masks } = this.#found;
    return this.#weights.of((masks[place] ?? 0) | (masks[place - 1] ?? 0) | (masks[place + 1] ?? 0));
  }
}
