import { type IndexPart, KINDS, type Kind, LENGTHS } from '../index/part.js';
import { WantedWords } from '../words/words.js';
import {
  Accumulator,
  type AddedTerm,
  type Counted,
  findTerm,
  type PlacedParts,
  RUN,
  TOGETHER,
  Weights,
  weightOf,
} from './accumulator.js';
import { Chooser, type RankedDocument } from './chooser.js';
import { type Bounds, type Query, SAID, type Term, wantedKinds } from './query.js';

/** The maximum number of terms, since each is a bit. Beyond that, the most common ones are left out. */
const TERMS = 31;

/**
 * With one document in so many that does not count, or fewer, all are counted to weigh a word: telling them apart takes
 * more time than all else.
 */
const FEW_OTHERS = 32;

/** Scores all documents with BM25, including the neighbours of each. */
export class Scores {
  readonly #parts: PlacedParts;
  readonly #kinds: Uint8Array;
  readonly #lengths: Uint8Array;
  /** By part, the number of documents of each kind. */
  readonly #counts: readonly ArrayLike<number>[];
  readonly #found: Accumulator;
  /** By document, read only for searches in a period. */
  #days: Uint16Array | null = null;
  /** The bits of a document with all words of the last search, null if one of them does not occur. */
  #all: number | null = null;
  /** The bits of the words of the last search, 0 for one that does not occur. */
  #bits: ReadonlyMap<string, number> = new Map();

  constructor(parts: readonly IndexPart[]) {
    let count = 0;
    this.#parts = parts.map((part) => {
      count += part.count;
      return { part, start: count - part.count };
    });
    this.#kinds = new Uint8Array(count);
    const lengths = new Uint8Array(count);
    for (const { part, start } of this.#parts) {
      this.#kinds.set(part.kinds(), start);
      lengths.set(part.lengths(), start);
    }
    this.#lengths = lengths;
    this.#counts = parts.map((part) => part.kindCounts());
    this.#found = new Accumulator(this.#parts, lengths);
  }

  get count(): number {
    return this.#kinds.length;
  }

  /** The part of a document, and its number there. */
  locate(document: number): { readonly part: number; readonly local: number } {
    let part = this.#parts.length - 1;
    while (part > 0 && (this.#parts[part]?.start ?? 0) > document) part -= 1;
    return { part, local: document - (this.#parts[part]?.start ?? 0) };
  }

  /** The documents within these bounds, in order. */
  within(bounds: Bounds): number[] {
    return [...this.newest(bounds)].reverse();
  }

  /** The same, newest first, generated lazily. */
  *newest(bounds: Bounds): Generator<number> {
    const allowed = this.#filter(bounds);
    for (let document = this.count - 1; document >= 0; document -= 1) if (allowed(document)) yield document;
  }

  /** The number of these documents. */
  countWithin(bounds: Bounds): number {
    const allowed = this.#filter(bounds);
    let count = 0;
    for (let document = 0; document < this.count; document += 1) if (allowed(document)) count += 1;
    return count;
  }

  /** The best `limit` documents, best first. */
  best(terms: readonly Term[], bounds: Bounds, limit: number): readonly RankedDocument[] {
    return this.bestOfEach(terms, [bounds], limit)[0] ?? [];
  }

  /** The same for several bounds at once, which must not differ in `kinds` and `alone`. */
  bestOfEach(
    terms: readonly Term[],
    each: readonly [Bounds, ...Bounds[]],
    limit: number,
  ): readonly (readonly RankedDocument[])[] {
    const [bounds] = each;
    const counted = bounds.alone === true ? this.#counted(wantedKinds(bounds)) : null;
    const all = counted === null ? this.count : this.#countOf(counted.wanted);
    const found = terms.map(({ forms, isWhole }) => {
      const { count, lists } = findTerm(this.#parts, { forms, isWhole }, counted);
      return { forms, isWhole, count, lists };
    });
    const total = found
      .filter(({ count, isWhole }) => count > 0 || !isWhole)
      .reduce((sum, { count }) => sum + weightOf(count, all), 0);
    const used = found
      .filter(({ count }) => count > 0)
      .sort((one, other) => one.count - other.count)
      .slice(0, TERMS);
    this.#all = used.length < found.filter(({ count, isWhole }) => count > 0 || !isWhole).length ? null : allOf(used);
    this.#bits = bitsOf(found, used);
    const weighed = used.map(({ count, lists }, index) => {
      return { count, lists, bit: 1 << index, weight: weightOf(count, all) };
    });
    return this.#choose(weighed, total, each, limit, counted);
  }

  /** Whether a document with these terms has all words of the last search. */
  hasAll(terms: number): boolean {
    return this.#all !== null && (terms & this.#all) === this.#all;
  }

  /** Whether a result of the last search may contain that word of it. */
  mayHave({ terms }: RankedDocument, word: string): boolean {
    const bits = this.#bits.get(word);
    return bits === undefined || (bits & terms) !== 0;
  }

  /** The neighbours whose terms count for a document too, if they have a term of the last search. */
  *near(document: number): Generator<number> {
    const { masks } = this.#found;
    const run = Math.floor(document / RUN);
    const end = Math.min((run + 2) * RUN, this.count);
    for (let other = Math.max(0, (run - 1) * RUN); other < end; other += 1) if (masks[other + 1] !== 0) yield other;
  }

  /** The newest document after `document` and before `end` with all these terms of the last search, null for none. */
  later(document: number, terms: number, end: number): number | null {
    const { masks } = this.#found;
    const first = Math.floor((document + 1) / RUN) + 1;
    for (let run = Math.floor((end - 1) / RUN) + 1; ; run -= 1) {
      run = this.#found.lastRunWith(terms, first, run);
      if (run < first) break;
      for (let other = Math.min(end, run * RUN) - 1; other > document && other >= (run - 1) * RUN; other -= 1) {
        if (((masks[other + 1] ?? 0) & terms) === terms && SAID.includes(this.kindOf(other))) return other;
      }
    }
    return null;
  }

  /** The kind of a document. */
  kindOf(document: number): Kind {
    return KINDS[this.#kinds[document] ?? 0] ?? 'tool';
  }

  get #knownDays(): Uint16Array {
    if (this.#days !== null) return this.#days;
    const days = new Uint16Array(this.count);
    for (const { part, start } of this.#parts) days.set(part.days(), start);
    this.#days = days;
    return days;
  }

  #counted(wanted: readonly boolean[]): Counted {
    const of = (counts: ArrayLike<number>, isWanted: boolean): number =>
      KINDS.reduce((sum, _, kind) => (wanted[kind] === isWanted ? sum + (counts[kind] ?? 0) : sum), 0);
    const isWhole = (counts: ArrayLike<number>): boolean => FEW_OTHERS * of(counts, false) <= of(counts, true);
    return { kinds: this.#kinds, wanted, whole: this.#counts.map(isWhole) };
  }

  /** The number of documents of these kinds. */
  #countOf(wanted: readonly boolean[]): number {
    const inPart = (counts: ArrayLike<number>): number =>
      KINDS.reduce((sum, _, kind) => (wanted[kind] === true ? sum + (counts[kind] ?? 0) : sum), 0);
    return this.#counts.reduce((sum, counts) => sum + inPart(counts), 0);
  }

  #choose(
    terms: readonly AddedTerm[],
    total: number,
    each: readonly [Bounds, ...Bounds[]],
    limit: number,
    counted: Counted | null,
  ): readonly (readonly RankedDocument[])[] {
    const weights = new Weights(terms.map(({ weight }) => weight));
    const choosers = each.map((bounds) => {
      const chooser = new Chooser(this.#found, this.#kinds, weights, total, bounds, limit);
      return { chooser, allowed: this.#filter(bounds) };
    });
    this.#found.begin(terms, counted);
    for (let from = 0; from < this.count; from += TOGETHER) {
      each[0].check?.();
      const end = Math.min(from + TOGETHER, this.count);
      this.#found.addBetween(from, end);
      for (const { chooser, allowed } of choosers) chooser.look(end === this.count ? end : end - RUN, allowed);
    }
    return choosers.map(({ chooser }) => chooser.taken());
  }

  /** The number of words of a document that are not stop words, about. */
  wordsOf(document: number): number {
    return LENGTHS[this.#lengths[document] ?? 0] ?? 0;
  }

  /** The first of the documents before `end` that have, counting only these kinds, so many words in all. */
  firstOfNewest(words: number, kinds: readonly Kind[], end = this.count): number {
    const wanted = wantedKinds({ kinds });
    let [first, left] = [end, words];
    while (first > 0 && left > 0) {
      first -= 1;
      if (wanted[this.#kinds[first] ?? 0] === true) left -= this.wordsOf(first);
    }
    return first;
  }

  /** A test for documents within the bounds. */
  #filter({ kinds, from, until, above = 0, below = this.count }: Bounds): (document: number) => boolean {
    const wanted = wantedKinds({ kinds });
    const isAnyTime = from === null && until === null;
    if (kinds === null && isAnyTime && above === 0 && below === this.count) return () => true;
    if (isAnyTime) {
      return (document) => document >= above && document < below && wanted[this.#kinds[document] ?? 0] === true;
    }
    const days = this.#knownDays;
    const [first, last] = [from ?? 0, until ?? 65_535];
    return (document) => {
      const day = days[document] ?? 0;
      const isThere = document >= above && document < below && day >= first && day <= last;
      return isThere && wanted[this.#kinds[document] ?? 0] === true;
    };
  }
}

/** The bit of each word; words of omitted terms have none. */
function bitsOf(
  found: readonly (Term & { readonly count: number })[],
  used: readonly Term[],
): ReadonlyMap<string, number> {
  const bits = new Map<string, number>();
  for (const { forms, count } of found) if (count === 0) for (const form of forms) bits.set(form, 0);
  used.forEach(({ forms }, index) => {
    for (const form of forms) bits.set(form, (bits.get(form) ?? 0) | (1 << index));
  });
  return bits;
}

/** The bits of the required terms; for a name, its parts are enough. */
function allOf(terms: readonly { readonly isWhole: boolean }[]): number {
  const isNeeded = terms.some(({ isWhole }) => !isWhole) ? (isWhole: boolean) => !isWhole : () => true;
  return terms.reduce((bits, { isWhole }, index) => (isNeeded(isWhole) ? bits | (1 << index) : bits), 0);
}

/**
 * The number of documents to rank, and of those to rank with their text, because reading text takes most of the time.
 */
const RANKED = 100;
const LOOKED_AT = 24;

/** The number of documents to rank if all with the words are wanted, or if a text must occur literally. */
const MANY = 2000;

/** The best documents, best first. `textOf` reads the text of one; null if it must not be returned. */
export function* rank(scores: Scores, query: Query, bounds: Bounds, textOf: TextOf): Generator<RankedDocument> {
  yield* ranked(scores, query, candidatesFor(scores, query, bounds, false), textOf);
}

/** Reads the text of a document; null if it must not be returned. */
export type TextOf = (document: number) => string | null;

/** The candidates, best first according to the index; `many` if all with the words are wanted. */
export function candidatesFor(scores: Scores, query: Query, bounds: Bounds, many: boolean): readonly RankedDocument[] {
  return scores.best(query.terms, bounds, query.phrases.length > 0 || many ? MANY : RANKED);
}

/**
 * The candidates reordered by their texts, best first. Reads a text only if it can change the order, since reading
 * takes most of the time.
 */
export function* ranked(
  scores: Scores,
  query: Query,
  candidates: readonly RankedDocument[],
  textOf: TextOf,
): Generator<RankedDocument> {
  const looked = query.phrases.length > 0 ? candidates : candidates.slice(0, LOOKED_AT);
  const most = looked.map((candidate) => {
    return { candidate, score: candidate.score * mostBySecondLook(query, (word) => scores.mayHave(candidate, word)) };
  });
  most.sort((one, other) => other.score - one.score);
  const known: RankedDocument[] = [];
  const look = secondLook(query);
  for (const { candidate, score } of most) {
    while (known.length > 0 && (known[0]?.score ?? 0) >= score) yield* known.splice(0, 1);
    const text = textOf(candidate.document);
    if (text === null) continue;
    const found = { ...candidate, score: candidate.score * look(text) };
    const place = known.findIndex((other) => other.score < found.score);
    known.splice(place < 0 ? known.length : place, 0, found);
  }
  yield* known;
  yield* candidates.slice(looked.length);
}

/** The certainty of a match: the share of the query that the document contains, and the rarity of these words. */
export function certainty({ coverage, weight }: RankedDocument): number {
  return coverage * Math.sqrt(weight);
}

/** The bonus for two words that are consecutive both in the query and in the text. */
const PAIR = 0.25;

/** The bonus of a document for its text. */
function secondLook({ pairs }: Query): (text: string) => number {
  const wanted = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
  const numbered = pairs.map(({ first, second }) => ({ first: wanted.indexOf(first), second: wanted.indexOf(second) }));
  const words = new WantedWords(wanted);
  const found = new Set<object>();
  let last = -1;
  let secondLast = -1;
  const next = (number: number): void => {
    // One other word may be between the two.
    for (const pair of number < 0 ? [] : numbered) {
      if (pair.second === number && (pair.first === last || pair.first === secondLast)) found.add(pair);
    }
    secondLast = last;
    last = number;
  };
  return (text) => {
    found.clear();
    last = -1;
    secondLast = -1;
    if (pairs.length > 0) words.each(text, next);
    return 1 + PAIR * found.size;
  };
}

/** The maximum bonus for a text that contains only words for which `mayHave` is true. */
function mostBySecondLook({ pairs }: Query, mayHave: (word: string) => boolean): number {
  let possible = 0;
  for (const { first, second } of pairs) if (mayHave(first) && mayHave(second)) possible += 1;
  return 1 + PAIR * possible;
}

/** A test for texts that contain all phrases, ignoring case, full and half width, and line breaks. */
export function phraseTest({ phrases }: Query): (text: string) => boolean {
  const wanted = phrases.map((phrase) => {
    const lower = inLowerCase(phrase);
    return { words: lower.match(WORD) ?? [], phrase: even(lower) };
  });
  return (text) => {
    if (wanted.length === 0) return true;
    const lower = inLowerCase(text);
    // Most texts lack one of the words and need not be normalised.
    if (!wanted.every(({ words }) => words.every((word) => lower.includes(word)))) return false;
    const plain = even(lower);
    return wanted.every(({ phrase }) => plain.includes(phrase));
  };
}

/** A character of Chinese or Japanese, or a word: a line of those ends anywhere. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;

const BETWEEN_CHARACTERS =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]) (?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー])/gu;

const inLowerCase = (text: string): string => text.normalize('NFKC').toLowerCase();

const even = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(BETWEEN_CHARACTERS, '');
