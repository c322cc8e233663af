import { KINDS } from '../index/part.js';
import { type Accumulator, RUN } from './accumulator.js';
import { Best } from './best.js';
import { type Bounds, favourOf } from './bounds.js';
import type { Weigh } from './weigh.js';

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

/** Tuned on half of LoCoMo and on BEAM 100K; see docs/performance.md. */
const NEIGHBOUR = 0.2;
const WINDOW = 0.3;
const COVERAGE = 0.5;

/** Chooses the best documents by their own terms and by what stands beside and around each. */
export class Chooser {
  readonly #found: Accumulator;
  readonly #kinds: Uint8Array;
  readonly #weigh: Weigh;
  /** What all terms weigh. */
  readonly #total: number;
  readonly #favour: Float32Array;
  readonly #highest: number;
  /** What weighs less is not certain enough. */
  readonly #least: number;
  readonly #best: Best;
  #next = 0;

  constructor(found: Accumulator, kinds: Uint8Array, weigh: Weigh, total: number, bounds: Bounds, limit: number) {
    this.#found = found;
    this.#kinds = kinds;
    this.#weigh = weigh;
    this.#total = total;
    this.#favour = Float32Array.from(KINDS, (kind) => favourOf(kind, bounds));
    this.#highest = this.#favour.reduce((most, one) => Math.max(most, one), 0);
    this.#least = ((bounds.certain ?? 0) * total) ** (2 / 3);
    this.#best = new Best(limit);
  }

  /** Looks at the documents from where it stopped last and below `end`; all terms were added to them and to the run behind them. */
  look(end: number, allowed: (document: number) => boolean): void {
    const { runs, peaks } = this.#found;
    const [weigh, best] = [this.#weigh, this.#best];
    let start = this.#next;
    this.#next = end;
    // Of a million documents most are passed by: what a run can reach at most is told by its terms and its highest score.
    for (let run = start / RUN + 1; start < end; start += RUN, run += 1) {
      const here = runs[run] ?? 0;
      const [before, after] = [runs[run - 1] ?? 0, runs[run + 1] ?? 0];
      if ((here | before | after) === 0) continue;
      const all = weigh(here | before | after);
      if (all < this.#least) continue;
      const most = this.#highest * (1 - COVERAGE / 2 + (COVERAGE * all) / this.#total);
      const peak = peaks[run] ?? 0;
      const beside = Math.max(peak, peaks[run - 1] ?? 0, peaks[run + 1] ?? 0);
      if ((peak + 2 * NEIGHBOUR * beside + WINDOW * all) * most <= best.least) continue;
      const around = WINDOW * Math.max(weigh(here | before), weigh(here | after));
      this.#lookAt(start, Math.min(start + RUN, end), around, allowed);
    }
  }

  /** The best, best first. */
  taken(): readonly RankedDocument[] {
    return this.#best.taken().map(({ document, score }) => {
      const weight = this.#weightOf(document + 1);
      const terms = this.#found.masks[document + 1] ?? 0;
      return { document, score, terms, weight, coverage: weight / this.#total };
    });
  }

  #lookAt(start: number, end: number, around: number, allowed: (document: number) => boolean): void {
    const { scores, before } = this.#found;
    const [kinds, favour, best] = [this.#kinds, this.#favour, this.#best];
    for (let place = start + 1; place <= end; place += 1) {
      const at = place - before;
      const near = (scores[at] ?? 0) + NEIGHBOUR * ((scores[at - 1] ?? 0) + (scores[at + 1] ?? 0));
      if (near === 0) continue;
      const most = (near + around) * (favour[kinds[place - 1] ?? 0] ?? 1);
      if (most * (1 + COVERAGE / 2) <= best.least || !allowed(place - 1)) continue;
      const weight = this.#weightOf(place);
      if (weight < this.#least) continue;
      best.offer(place - 1, most * (1 - COVERAGE / 2 + (COVERAGE * weight) / this.#total));
    }
  }

  /** What the terms weigh that a document and its neighbours have. */
  #weightOf(place: number): number {
    const { masks } = this.#found;
    return this.#weigh((masks[place] ?? 0) | (masks[place - 1] ?? 0) | (masks[place + 1] ?? 0));
  }
}
