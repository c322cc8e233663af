/** Letters that do not come apart into a letter and an accent, and those that are also written as two. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

const DIGRAPHS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };

/** The marks on Latin, Greek and Cyrillic letters, and the points of Hebrew and Arabic, which most people leave out. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]/g;

const PLAIN = /^[\0-\x7f]*$/;

/** A word without accents and in lower case: `Zürich` is `zurich`. */
export function fold(word: string): string {
  if (PLAIN.test(word)) return word.toLowerCase();
  const lower = word.normalize('NFKC').toLowerCase();
  return lower
    .replace(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC');
}

/** The same word as it is written where the letters are not at hand: `zuerich`; null if there is no such letter in it. */
export function foldToDigraphs(word: string): string | null {
  if (PLAIN.test(word)) return null;
  const lower = word.normalize('NFKC').toLowerCase();
  const written = lower.replace(/[äöüåø]/g, (letter) => DIGRAPHS[letter] ?? letter);
  return written === lower ? null : fold(written);
}

/** How a plain word may be spelled otherwise: `zuerich` is `zurich` too, and `zurich` is `zuerich`. */
export function otherSpellings(word: string): readonly string[] {
  if (!/^[a-z]{4,24}$/.test(word)) return [];
  const spellings = new Set<string>();
  for (const { index } of word.matchAll(/(?<=[aou])e|aa/g)) spellings.add(word.slice(0, index) + word.slice(index + 1));
  for (const { index } of word.matchAll(/[aou](?!e)/g))
    spellings.add(`${word.slice(0, index + 1)}e${word.slice(index + 1)}`);
  return [...spellings].slice(0, 8);
}
