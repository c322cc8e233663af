import { type IndexPart, KINDS, type Kind, LENGTHS, type Postings } from '../index/part.js';
import { decodePostings, FREQUENCIES } from '../index/postings.js';
import { Best } from './best.js';
import { isCharacter, otherForms, type Term } from './query.js';
import { type Weigh, weigher } from './weigh.js';

/** What is looked for, apart from the words. */
export interface Bounds {
  /** Whose words are wanted, null for anyone's. */
  readonly kinds: readonly Kind[] | null;
  /** The first and the last day, since 1970, null where there is none. */
  readonly from: number | null;
  readonly until: number | null;
  /** How much more the words of some kinds count. */
  readonly favour: Readonly<Partial<Record<Kind, number>>>;
}

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
const K1 = 0.9;
const B = 0.6;
const NEIGHBOUR = 0.2;
const WINDOW = 0.3;
const COVERAGE = 0.5;
/** What a tool printed is seldom what was meant. */
const PRINTED = 0.6;

/** Two of these runs of documents are looked at as one talk. */
const RUN_BITS = 3;
const RUN = 1 << RUN_BITS;

/** Terms beyond so many are left out, the most common first: each is a bit. */
const TERMS = 31;

/** Where one term is. */
interface Found {
  readonly count: number;
  readonly lists: readonly { readonly start: number; readonly postings: Postings }[];
}

/** All documents there are, by how well they fit: BM25 with what stands beside and around each. */
export class Scores {
  readonly #parts: readonly IndexPart[];
  readonly #starts: readonly number[];
  readonly #kinds: Uint8Array;
  readonly #lengths: Uint8Array;
  readonly #average: number;
  /** By place, which is one more than the number of the document, so that each has neighbours. */
  readonly #scores: Float32Array;
  readonly #masks: Uint32Array;
  readonly #runs: Uint32Array;
  /** The terms of the last search that a document has that has all of its words, null where one of them is nowhere. */
  #all: number | null = null;

  constructor(parts: readonly IndexPart[]) {
    this.#parts = parts;
    const starts: number[] = [];
    let count = 0;
    for (const part of parts) {
      starts.push(count);
      count += part.count;
    }
    this.#starts = starts;
    this.#kinds = new Uint8Array(count);
    this.#lengths = new Uint8Array(count);
    parts.forEach((part, index) => {
      this.#kinds.set(part.kinds, starts[index] ?? 0);
      this.#lengths.set(part.lengths, starts[index] ?? 0);
    });
    this.#average = averageOf(this.#lengths);
    this.#scores = new Float32Array(count + 2);
    this.#masks = new Uint32Array(count + 2);
    this.#runs = new Uint32Array((count >> RUN_BITS) + 3);
  }

  get count(): number {
    return this.#kinds.length;
  }

  /** The part that a document is in, and its number there. */
  locate(document: number): { readonly part: number; readonly local: number } {
    let part = this.#starts.length - 1;
    while (part > 0 && (this.#starts[part] ?? 0) > document) part -= 1;
    return { part, local: document - (this.#starts[part] ?? 0) };
  }

  /** The documents of those kinds in those days, in order. */
  within(bounds: Bounds): number[] {
    const allowed = this.#filter(bounds);
    return Array.from({ length: this.count }, (_, document) => document).filter((document) => allowed(document));
  }

  /** The best `limit` documents, best first. */
  best(terms: readonly Term[], bounds: Bounds, limit: number): readonly RankedDocument[] {
    const found = terms.map((term) => ({ ...this.#findTerm(term), isWhole: term.isWhole }));
    const total = found
      .filter(({ count, isWhole }) => count > 0 || !isWhole)
      .reduce((sum, { count }) => sum + this.#rarity(count), 0);
    const used = found
      .filter(({ count }) => count > 0)
      .sort((one, other) => one.count - other.count)
      .slice(0, TERMS);
    const rarities = used.map(({ count }) => this.#rarity(count));
    this.#all = used.length < found.filter(({ count, isWhole }) => count > 0 || !isWhole).length ? null : allOf(used);
    this.#scores.fill(0);
    this.#masks.fill(0);
    this.#runs.fill(0);
    for (const [index, one] of used.entries()) this.#add(one, index, rarities[index] ?? 0);
    return this.#choose(weigher(rarities), total, bounds, limit);
  }

  /** Whether a document with these terms of the last search has all of its words. */
  hasAll(terms: number): boolean {
    return this.#all !== null && (terms & this.#all) === this.#all;
  }

  /** The newest document after `document` with all these terms of the last search, null for none. */
  later(document: number, terms: number): number | null {
    for (let place = this.count; place > document + 1; place -= 1) {
      if (((this.#masks[place] ?? 0) & terms) === terms && this.#isSaid(place - 1)) return place - 1;
    }
    return null;
  }

  #isSaid(document: number): boolean {
    const kind = KINDS[this.#kinds[document] ?? 0];
    return kind === 'user' || kind === 'model';
  }

  #rarity(found: number): number {
    return Math.log(1 + (this.count - found + 0.5) / (found + 0.5));
  }

  /** Another spelling, or a longer word, is looked for only where there is no such word. */
  #findTerm(term: Term): Found {
    const found = isCharacter(term) ? null : this.#find(term.forms);
    return found !== null && found.count > 0 ? found : this.#find(otherForms(this.#parts, term));
  }

  #find(forms: readonly string[]): Found {
    const lists: { readonly start: number; readonly postings: Postings }[] = [];
    let count = 0;
    this.#parts.forEach((part, index) => {
      let most = 0;
      for (const form of forms) {
        const postings = part.find(form);
        if (postings === null) continue;
        lists.push({ start: this.#starts[index] ?? 0, postings });
        // Two spellings of one word are in the same documents.
        most = Math.max(most, postings.count);
      }
      count += most;
    });
    return { count, lists };
  }

  #add({ lists }: Found, index: number, rarity: number): void {
    const [scores, masks, runs, lengths] = [this.#scores, this.#masks, this.#runs, this.#lengths];
    const bit = 1 << index;
    const norms = LENGTHS.map((length) => K1 * (1 - B + (B * length) / this.#average));
    const gain = rarity * (K1 + 1);
    for (const { start, postings } of lists) {
      decodePostings(postings.bytes, (local, code) => {
        const place = start + local + 1;
        const mask = masks[place] ?? 0;
        if ((mask & bit) !== 0) return;
        masks[place] = mask | bit;
        const run = ((place - 1) >> RUN_BITS) + 1;
        runs[run] = (runs[run] ?? 0) | bit;
        const frequency = FREQUENCIES[code] ?? 1;
        const norm = norms[lengths[place - 1] ?? 0] ?? 1;
        scores[place] = (scores[place] ?? 0) + (gain * frequency) / (frequency + norm);
      });
    }
  }

  #choose(weigh: Weigh, total: number, bounds: Bounds, limit: number): readonly RankedDocument[] {
    const [scores, masks, runs, kinds] = [this.#scores, this.#masks, this.#runs, this.#kinds];
    const favour = Float32Array.from(KINDS, (kind) => favourOf(kind, bounds));
    const allowed = this.#filter(bounds);
    const best = new Best(limit);
    const count = this.count;
    // Of a million documents most are passed by: what a run can reach at most is told by its terms.
    for (let start = 0, run = 1; start < count; start += RUN, run += 1) {
      const here = runs[run] ?? 0;
      const [before, after] = [runs[run - 1] ?? 0, runs[run + 1] ?? 0];
      if ((here | before | after) === 0) continue;
      const around = WINDOW * Math.max(weigh(here | before), weigh(here | after));
      const end = Math.min(start + RUN, count);
      for (let place = start + 1; place <= end; place += 1) {
        const near = (scores[place] ?? 0) + NEIGHBOUR * ((scores[place - 1] ?? 0) + (scores[place + 1] ?? 0));
        if (near === 0) continue;
        const most = (near + around) * (favour[kinds[place - 1] ?? 0] ?? 1);
        if (most * (1 + COVERAGE / 2) <= best.least || !allowed(place - 1)) continue;
        const weight = weigh((masks[place] ?? 0) | (masks[place - 1] ?? 0) | (masks[place + 1] ?? 0));
        best.offer(place - 1, most * (1 - COVERAGE / 2 + (COVERAGE * weight) / total));
      }
    }
    return best.taken().map(({ document, score }) => {
      const place = document + 1;
      const weight = weigh((masks[place] ?? 0) | (masks[place - 1] ?? 0) | (masks[place + 1] ?? 0));
      return { document, score, terms: masks[place] ?? 0, weight, coverage: weight / total };
    });
  }

  /** Whether a document may be given at all. */
  #filter({ kinds, from, until }: Bounds): (document: number) => boolean {
    const wanted = KINDS.map((kind) => kinds === null || kinds.includes(kind));
    if (kinds === null && from === null && until === null) return () => true;
    if (from === null && until === null) return (document) => wanted[this.#kinds[document] ?? 0] === true;
    const days = new Uint16Array(this.count);
    for (const [index, part] of this.#parts.entries()) days.set(part.days(), this.#starts[index] ?? 0);
    const [first, last] = [from ?? 0, until ?? 65_535];
    return (document) => {
      const day = days[document] ?? 0;
      return day >= first && day <= last && wanted[this.#kinds[document] ?? 0] === true;
    };
  }
}

/** The bits of the terms that must be there: the parts of a name stand for the whole. */
function allOf(terms: readonly { readonly isWhole: boolean }[]): number {
  const isNeeded = terms.some(({ isWhole }) => !isWhole) ? (isWhole: boolean) => !isWhole : () => true;
  return terms.reduce((bits, { isWhole }, index) => (isNeeded(isWhole) ? bits | (1 << index) : bits), 0);
}

/** How much what one says counts. */
function favourOf(kind: Kind, { favour }: Bounds): number {
  return (favour[kind] ?? 1) * (kind === 'tool' || kind === 'note' ? PRINTED : 1);
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
