import { WantedWords } from '../words/wanted-words.js';
import type { Query } from './query.js';

/** The bonus for two words that are consecutive both in the query and in the text. */
const PAIR = 0.25;

/** The bonus of a document for its text. */
export function secondLook({ pairs }: Query): (text: string) => number {
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
export function mostBySecondLook({ pairs }: Query, mayHave: (word: string) => boolean): number {
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
