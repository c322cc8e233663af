import { WantedWords } from '../words/pieces.js';
import type { RankedDocument } from './chooser.js';
import type { Bounds, Query } from './query.js';
import type { Scores } from './scores.js';

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
