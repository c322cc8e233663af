import { COMMON_WORDS } from './common-words.js';

/** A word of a text that may tell what the text is about. */
export interface Word {
  /** What words that only differ in their ending have in common. */
  readonly stem: string;
  /** Where it begins and ends, in characters of the prepared text; neighbouring pairs of one CJK word overlap. */
  readonly from: number;
  readonly to: number;
  /** Says nothing about a subject, unless it is the name of a skill. */
  readonly isCommon: boolean;
}

/** The stems of words met before: a folder of skills repeats itself. */
export type Stems = Map<string, Pick<Word, 'stem' | 'isCommon'>>;

/**
 * The telling words of a text: runs of letters and digits, in lower case and without accents, and for scripts that put no
 * spaces between words every two neighbouring characters. Common words are left out.
 */
export function wordsOf(text: string, stems: Stems = new Map()): readonly Word[] {
  return everyWordOf(text, stems).filter(({ isCommon }) => !isCommon);
}

/** The same with the common words. */
export function everyWordOf(text: string, stems: Stems = new Map()): readonly Word[] {
  const words: Word[] = [];
  for (const { 0: run, index } of text.normalize('NFKC').toLowerCase().matchAll(RUN)) {
    if (!ASCII.test(run) && UNSPACED.test(run)) addMixed(words, run, index, stems);
    else addWord(words, run, index, stems);
  }
  return words;
}

/** `c++` and `c#` are words of their own. */
const RUN = /[\p{L}\p{M}\p{N}]+(?:\+\+|#)?/gu;

// Most words of most texts, for which asking for scripts takes longer than all the rest.
const ASCII = /^[\x00-\x7f]*$/;

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/u;

function addWord(words: Word[], run: string, from: number, stems: Stems): void {
  const { stem, isCommon } = read(run, stems);
  words.push({ stem, from, to: from + run.length, isCommon });
}

/** A run in which words of other scripts may stand between such as have no spaces, as in `用docker部署`. */
function addMixed(words: Word[], run: string, from: number, stems: Stems): void {
  let at = 0;
  for (const { 0: unspaced, index } of run.matchAll(new RegExp(UNSPACED, 'gu'))) {
    if (index > at) addWord(words, run.slice(at, index), from + at, stems);
    addPairs(words, unspaced, from + index);
    at = index + unspaced.length;
  }
  if (at < run.length) addWord(words, run.slice(at), from + at, stems);
}

function read(run: string, stems: Stems): Pick<Word, 'stem' | 'isCommon'> {
  const known = stems.get(run);
  if (known !== undefined) return known;
  const plain = run
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  const isCommon = COMMON_WORDS.has(plain) || plain.length === 1 || /^\d{1,2}$/.test(plain);
  const word = { stem: stemOf(plain), isCommon };
  stems.set(run, word);
  return word;
}

/** Six letters tell words apart in European languages nearly as well as whole words, and join their forms far better. */
const STEM = 6;

/** Takes off what English adds to a word, then cuts: `cache`, `cached` and `caching` are one, so are `migrate` and `migrations`. */
function stemOf(word: string): string {
  const singular = word.length > 3 ? word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1') : word;
  const bare = singular.replace(/(?:ing|ed)$/, '');
  const isWord = bare !== singular && bare.length >= 3 && /[aeiouy]/.test(bare);
  const base = isWord ? bare.replace(/([bdfgmnprt])\1$/, '$1') : singular;
  return (base.length > 3 ? base.replace(/e$/, '') : base).slice(0, STEM);
}

/** Kana alone is grammar: what a Japanese sentence is about stands in kanji and katakana. */
const GRAMMAR = /^[\p{Script=Hiragana}ー]+$/u;

function addPairs(words: Word[], run: string, from: number): void {
  const characters = [...run];
  characters.slice(1).forEach((character, index) => {
    const stem = `${characters[index]}${character}`;
    const isCommon = COMMON_WORDS.has(stem) || GRAMMAR.test(stem);
    words.push({ stem, from: from + index, to: from + index + 2, isCommon });
  });
}
