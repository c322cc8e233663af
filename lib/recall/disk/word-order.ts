/** The number of leading bytes of a word that are packed into one number for sorting. */
const BEGINNING = 4;
const PLACES = 2 ** 20;

/** Sorts words of one byte per character. Compares numbers made from their first bytes, which V8 sorts much faster than strings. */
export function inOrder<Kind extends { readonly word: string }>(words: readonly Kind[]): readonly Kind[] {
  if (words.length > PLACES) return [...words].sort(byWord);
  const keys = Float64Array.from(words, ({ word }, place) => beginningOf(word) * PLACES + place).sort();
  const sorted: Kind[] = [];
  let alike: Kind[] = [];
  let last = -1;
  const flush = (): void => {
    if (alike.length > 1) alike.sort(byWord);
    for (const one of alike) sorted.push(one);
  };
  for (const key of keys) {
    const one = words[key % PLACES];
    const beginning = Math.floor(key / PLACES);
    if (one === undefined) continue;
    if (beginning !== last) {
      flush();
      alike = [];
      last = beginning;
    }
    alike.push(one);
  }
  flush();
  return sorted;
}

const byWord = (one: { readonly word: string }, other: { readonly word: string }): number =>
  one.word < other.word ? -1 : 1;

function beginningOf(word: string): number {
  let number = 0;
  for (let at = 0; at < BEGINNING; at += 1) number = number * 256 + (at < word.length ? word.charCodeAt(at) : 0);
  return number;
}
