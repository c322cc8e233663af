import { words } from '../words/words.js';
import type { Query } from './query.js';

/** How much each two words count that follow each other in the question and in the text. */
const PAIR = 0.25;

/** How far apart they may stand. */
const REACH = 2;

/** By how much the text of a document makes it fit better. */
export function secondLook({ pairs }: Query, text: string): number {
  if (pairs.size === 0) return 1;
  const found = new Set<string>();
  const sequence = words(text);
  sequence.forEach((word, index) => {
    for (let next = index + 1; next <= index + REACH && next < sequence.length; next += 1) {
      const pair = `${word} ${sequence[next]}`;
      if (pairs.has(pair)) found.add(pair);
    }
  });
  return 1 + PAIR * found.size;
}

/** The same at most, for a text that has only words for which `mayHave` is true. */
export function mostBySecondLook({ pairs }: Query, mayHave: (word: string) => boolean): number {
  let possible = 0;
  for (const pair of pairs) if (pair.split(' ').every(mayHave)) possible += 1;
  return 1 + PAIR * possible;
}

/** Whether the text has all of the phrases, in any case and however its lines are broken. */
export function hasPhrases({ phrases }: Query, text: string): boolean {
  if (phrases.length === 0) return true;
  const plain = flat(text);
  return phrases.every((phrase) => plain.includes(flat(phrase)));
}

function flat(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll(/\s+/g, ' ');
}
