import { HAN_VARIANTS } from './han-variants.js';

/**
 * Letters that Unicode does not decompose into a letter and an accent, and those that are also written as two letters.
 */
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

/**
 * Endings of German plurals with an umlaut, such as `Häuser` and `Müttern`, and how many letters to remove. The stemmer
 * removes a final `e`.
 */
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

/**
 * A word without its endings, so that `painting`, `painted` and `paints` are equal. It is deliberately rough: texts and
 * queries only have to be treated alike.
 */
export function stem(word: string): string {
  if (word.length < 4) return word;
  if (/^[a-z]+$/.test(word)) return latin(word);
  if (/^[а-яіїє]+$/.test(word)) return cyrillic(word);
  // Removes the article, prefixes that are written together with it, and the feminine ending.
  if (/^[\u0621-\u064a]+$/.test(word)) return word.replace(/^(?:[وبكف]?ال|لل)(?=...)/, '').replace(/(?<=...)[ةه]$/, '');
  return /^[\u05d0-\u05ea]+$/.test(word) ? word.replace(/^ה(?=...)/, '') : word;
}

function latin(word: string): string {
  let cut = word.endsWith('s') ? withoutPlural(word) : word;
  const shorter = /[gdy]$/.test(cut) ? cut.replace(/(?:ing|ed)(?:ly)?$/, '') : cut;
  if (shorter !== cut && shorter.length > 2 && /[aeiouy]/.test(shorter))
    cut = shorter.replace(/([bdfgmnprt])\1$/, '$1');
  if (/[stl]$/.test(cut)) cut = cut.replace(/(?<=.{4})(?:fulness|ness|ment|ful)$/, '');
  if (cut.endsWith('ly')) cut = cut.replace(/(?<=.{3})ly$/, '');
  if (cut.endsWith('ion')) cut = cut.replace(/(?<=.{3})(?:at|it|t|s)ion$/, 't');
  if (cut.endsWith('e')) cut = cut.replace(/(?<=..)e$/, '');
  return cut.endsWith('y') ? cut.replace(/(?<=..)y$/, 'i') : cut;
}

function withoutPlural(word: string): string {
  return word
    .replace(/(?<=..)ies$/, 'y')
    .replace(/(?<=ch|sh|ss|x|z)es$/, '')
    .replace(/(?<=[^su])s$/, '');
}

/** The endings of Russian and Ukrainian nouns, adjectives and verbs, longest first. */
const ENDINGS =
  /(?<=...)(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ешь|ете|ать|ять|ить|еть|ала|али|ило|или|ла|ло|ли|ая|яя|ое|ее|ые|ие|ии|ию|ия|ой|ей|ом|ем|ам|ям|ах|ях|ов|ев|ый|ий|ую|юю|ет|ит|ут|ют|ть|[аеиоуыьюяйіїє])$/;

function cyrillic(word: string): string {
  return word.replace(ENDINGS, '');
}

/** The characters that have other forms are between these. */
const FIRST = 0x3400;
const LAST = 0x9fff;

/**
 * By character from `FIRST` on: the first one of its group, 0 for a character without other forms. Filled when the
 * first Chinese text is seen.
 */
let firsts: Uint16Array | null = null;

/**
 * A text with one form for each Chinese character, the simplified one where there is one: traditional and Japanese ones
 * are equal to it.
 */
export function foldHan(text: string): string {
  let folded = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < FIRST || code > LAST) continue;
    firsts ??= readGroups();
    const first = firsts[code - FIRST] ?? 0;
    if (first === 0) continue;
    folded += text.slice(done, at) + String.fromCharCode(first);
    done = at + 1;
  }
  return done === 0 ? text : folded + text.slice(done);
}

function readGroups(): Uint16Array {
  const table = new Uint16Array(LAST - FIRST + 1);
  for (const group of HAN_VARIANTS.split(' ')) {
    for (let at = 1; at < group.length; at += 1) table[group.charCodeAt(at) - FIRST] = group.charCodeAt(0);
  }
  return table;
}

const DIGITS: Readonly<Record<string, number>> = {
  ...{ 零: 0, 〇: 0, 一: 1, 二: 2, 两: 2, 兩: 2, 三: 3, 四: 4, 五: 5, 六: 6, 七: 7, 八: 8, 九: 9 },
};

const UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000, 万: 1e4, 萬: 1e4, 亿: 1e8, 億: 1e8 };

/** Parts of dates and times, each in one form. */
const MEASURES: Readonly<Record<string, string>> = {
  年: '年',
  月: '月',
  日: '日',
  号: '日',
  號: '日',
  点: '点',
  點: '点',
};

const NUMBER = /(?:[零〇一二两兩三四五六七八九十百千万萬亿億]{1,16}|\d{1,9})[年月日号號点點]?/g;

/**
 * The numbers in a text with Chinese or Japanese characters, in digits, and the parts of dates: `350` for 三百五十, `3月`
 * and `5日` for 三月五号, also where they are written in digits.
 */
export function numberWords(text: string): readonly string[] {
  return (text.match(NUMBER) ?? []).flatMap((found) => {
    const measure = MEASURES[found.at(-1) ?? ''] ?? '';
    const numeral = measure === '' ? found : found.slice(0, -1);
    const isInDigits = /^\d/.test(numeral);
    // Words such as 一 and 十 occur in most texts, and digits are words already.
    if (measure === '' && (isInDigits || numeral.length === 1)) return [];
    const value = isInDigits ? String(Number(numeral)) : inDigits(numeral);
    return [value + measure];
  });
}

/** 三百五 and 三百五十 are 350, 一九六八 is 1968. */
function inDigits(numeral: string): string {
  const characters = Array.from(numeral);
  if (characters.every((one) => one in DIGITS)) return characters.map((one) => DIGITS[one]).join('');
  let [sum, part, digit, last] = [0, 0, 0, 1];
  for (const one of characters) {
    const unit = UNITS[one];
    if (unit === undefined) {
      digit = DIGITS[one] ?? 0;
      // A zero says that what follows are not tens of what precedes.
      if (digit === 0) last = 1;
    } else if (unit >= 1e4) {
      const before = unit > 1e4 ? sum + part + digit : part + digit;
      sum = (unit > 1e4 ? 0 : sum) + (before || 1) * unit;
      [part, digit, last] = [0, 0, unit];
    } else {
      part += (digit || 1) * unit;
      [digit, last] = [0, unit];
    }
  }
  return String(sum + part + (last > 10 ? (digit * last) / 10 : digit));
}
