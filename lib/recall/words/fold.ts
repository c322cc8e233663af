/** Letters that Unicode does not decompose into a letter and an accent, and those that are also written as two letters. */
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

/** A word in lower case without accents: `zurich` for `Zürich`. */
export function fold(word: string): string {
  if (PLAIN.test(word)) return word.toLowerCase();
  const lower = word.normalize('NFKC').toLowerCase();
  return lower
    .replace(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC');
}

/** The spelling of a word with two letters instead of an umlaut: `zuerich`; null if it has none. */
export function foldToDigraphs(word: string): string | null {
  if (PLAIN.test(word)) return null;
  const lower = word.normalize('NFKC').toLowerCase();
  const written = lower.replace(/[äöüåø]/g, (letter) => DIGRAPHS[letter] ?? letter);
  return written === lower ? null : fold(written);
}

/** Endings of German plurals with an umlaut, such as `Häuser` and `Müttern`, and how many letters to remove. The stemmer removes a final `e`. */
const PLURALS: readonly (readonly [ending: RegExp, length: readonly number[]])[] = [
  [/ern$/, [1, 3]],
  [/eln$/, [1]],
  [/(?:er|en)$/, [2]],
];

/** The possible singulars of a folded word that was written with an umlaut: `haus` for `Häuser`. */
export function germanSingulars(word: string, folded: string): readonly string[] {
  if (PLAIN.test(word) || !/[äöü]/.test(word.normalize('NFC').toLowerCase())) return [];
  const lengths = PLURALS.find(([ending]) => ending.test(folded))?.[1] ?? [];
  return lengths.map((length) => folded.slice(0, -length)).filter(({ length }) => length > 2);
}

/** Other spellings of a folded word: `zurich` for `zuerich`, and `zuerich` for `zurich`. */
export function otherSpellings(word: string): readonly string[] {
  if (!/^[a-z]{4,24}$/.test(word)) return [];
  const spellings = new Set<string>();
  for (const { index } of word.matchAll(/(?<=[aou])e|aa/g)) spellings.add(word.slice(0, index) + word.slice(index + 1));
  for (const { index } of word.matchAll(/[aou](?!e)/g))
    spellings.add(`${word.slice(0, index + 1)}e${word.slice(index + 1)}`);
  return [...spellings].slice(0, 8);
}
