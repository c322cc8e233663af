import { STOP_WORDS } from './stop-words.js';

/** A word of a text, as matching uses it. */
export interface SignificantWord {
  /** What words that differ only in their ending have in common. */
  readonly stem: string;
  /** Start and end offsets in the normalised text; neighbouring pairs of one CJK word overlap. */
  readonly from: number;
  readonly to: number;
  /** Says nothing about the subject, unless it is the name of a skill. */
  readonly isStopWord: boolean;
}

/** A cache of stems: the skills of a folder share most of their words. */
export type Stems = Map<string, Pick<SignificantWord, 'stem' | 'isStopWord'>>;

/**
 * The significant words of a text: runs of letters and digits, in lower case and without accents, and every two neighbouring
 * characters in scripts without spaces between words. Stop words are left out.
 */
export function significantWordsOf(text: string, stems: Stems = new Map()): readonly SignificantWord[] {
  return everyWordOf(text, stems).filter(({ isStopWord }) => !isStopWord);
}

/** The same, including stop words. */
export function everyWordOf(text: string, stems: Stems = new Map()): readonly SignificantWord[] {
  const words: SignificantWord[] = [];
  for (const { 0: run, index } of text.normalize('NFKC').toLowerCase().matchAll(RUN)) {
    if (!ASCII.test(run) && UNSPACED.test(run)) addMixed(words, run, index, stems);
    else addWord(words, run, index, stems);
  }
  return words;
}

/** `c++` and `c#` are words too. */
const RUN = /[\p{L}\p{M}\p{N}]+(?:\+\+|#)?/gu;

// Fast path: most words are ASCII, and testing for scripts takes longer than everything else.
const ASCII = /^[\x00-\x7f]*$/;

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/u;

function addWord(words: SignificantWord[], run: string, from: number, stems: Stems): void {
  const { stem, isStopWord } = read(run, stems);
  words.push({ stem, from, to: from + run.length, isStopWord });
}

/** Splits a run that mixes scripts with and without spaces, as in `用docker部署`. */
function addMixed(words: SignificantWord[], run: string, from: number, stems: Stems): void {
  let at = 0;
  for (const { 0: unspaced, index } of run.matchAll(new RegExp(UNSPACED, 'gu'))) {
    if (index > at) addWord(words, run.slice(at, index), from + at, stems);
    addPairs(words, unspaced, from + index);
    at = index + unspaced.length;
  }
  if (at < run.length) addWord(words, run.slice(at), from + at, stems);
}

function read(run: string, stems: Stems): Pick<SignificantWord, 'stem' | 'isStopWord'> {
  const known = stems.get(run);
  if (known !== undefined) return known;
  const plain = run
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  const isStopWord = STOP_WORDS.has(plain) || plain.length === 1 || /^\d{1,2}$/.test(plain);
  const word = { stem: stemOf(plain), isStopWord };
  stems.set(run, word);
  return word;
}

/** Six letters distinguish words of European languages nearly as well as whole words, and match inflected forms far better. */
const STEM = 6;

/** Removes English suffixes, then truncates: `cache`, `cached` and `caching` have one stem, and so have `migrate` and `migrations`. */
function stemOf(word: string): string {
  const singular = word.length > 3 ? word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1') : word;
  const bare = singular.replace(/(?:ing|ed)$/, '');
  const isWord = bare !== singular && bare.length >= 3 && /[aeiouy]/.test(bare);
  const base = isWord ? bare.replace(/([bdfgmnprt])\1$/, '$1') : singular;
  return (base.length > 3 ? base.replace(/e$/, '') : base).slice(0, STEM);
}

/** Hiragana alone is grammar: the subject of a Japanese sentence is written in kanji and katakana. */
const GRAMMAR = /^[\p{Script=Hiragana}ー]+$/u;

function addPairs(words: SignificantWord[], run: string, from: number): void {
  const characters = [...run];
  characters.slice(1).forEach((character, index) => {
    const stem = `${characters[index]}${character}`;
    const isStopWord = STOP_WORDS.has(stem) || GRAMMAR.test(stem);
    words.push({ stem, from: from + index, to: from + index + 2, isStopWord });
  });
}
