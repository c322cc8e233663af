import { wordsApart } from './apart.js';
import { numberWords } from './chinese-numbers.js';
import { fold, foldToDigraphs, germanSingulars } from './fold.js';
import { foldHan } from './fold-han.js';
import { stopWords } from './frequent-words.js';
import { stem } from './stem.js';

/** Letters and digits, and the characters that join them into one name: `hi.js`, `user_id`, `2024-05-08`, `don't`. */
const CHUNK = /[\p{L}\p{N}\p{M}_]+(?:[.\-:@'’][\p{L}\p{N}\p{M}_]+)*/gu;

/** The same at one position. */
export const CHUNK_HERE = /[\p{L}\p{N}\p{M}_]+(?:[.\-:@'’][\p{L}\p{N}\p{M}_]+)*/uy;

/** Scripts that are written without spaces, and Korean, which writes endings to its words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々〆]+/gu;

/** The boundaries between the parts of a name: `getUserProfile`, `HTTPRequest`, `user_id`, `utf8`. */
const SEAMS = /_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Longer names are keys and encoded bytes, which nobody searches for. */
export const LONGEST = 64;

/** A word of ASCII letters, like most words, which need not be split. */
const SIMPLE = /^[A-Za-z][a-z]{0,63}$/;

const HAN = /\p{Script=Han}/u;

const PLAIN = /^[\0-\x7f]*$/;

export const STOPPED: ReadonlySet<string> = stopWords(fold);

/** The number of chunks in the cache. Most of them occur again. */
const REMEMBERED = 8000;

/** V8 stores a substring of this length as a reference, so caching it would keep the whole text in memory. */
const SHARED = 13;

let known = new Map<string, readonly string[]>();

/** A searchable word of a text. */
export interface IndexTerm {
  readonly word: string;
  /** `whole`: a name whose parts follow; `other`: another spelling of the previous word. */
  readonly as: 'word' | 'whole' | 'other';
}

/** The searchable words of a text, in order: folded, without endings, compound names both as a whole and in parts. Stop words are left out. */
export function words(text: string): string[] {
  const found: string[] = [];
  // Not `matchAll`, which is slower.
  for (const chunk of text.match(CHUNK) ?? []) for (const word of wordsOf(chunk)) found.push(word);
  return found;
}

/** The searchable words of a question, each with its role. Scripts without spaces are cut into words, so that no pair reaches from one into the next. */
export function askedWords(text: string): readonly IndexTerm[] {
  return Array.from(text.matchAll(CHUNK), ([chunk]) => split(chunk, addWordsApart)).flat();
}

/** The chunks of a text: the position of each, and its words. */
export function* placedWords(
  text: string,
): Generator<{ readonly index: number; readonly length: number; readonly words: readonly string[] }> {
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) yield { index, length: chunk.length, words: wordsOf(chunk) };
}

/** The words of a chunk. */
export function wordsOf(chunk: string): readonly string[] {
  const remembered = known.get(chunk);
  if (remembered !== undefined) return remembered;
  if (chunk.length > LONGEST) return split(chunk).map(({ word }) => word);
  const own = unshared(chunk);
  const found = SIMPLE.test(own) ? simpleWords(own) : split(own).map(({ word }) => word);
  if (known.size >= REMEMBERED) known = new Map();
  known.set(own, found);
  return found;
}

/** A piece of a text, to be remembered without the text. */
export function unshared(chunk: string): string {
  return chunk.length < SHARED ? chunk : Buffer.from(chunk).toString();
}

/** The result of `split` for a word of ASCII letters. */
function simpleWords(chunk: string): readonly string[] {
  const word = plainWord(chunk);
  return word === null ? [] : [word];
}

/** The searchable form of a word of ASCII letters; null for a stop word. */
export function plainWord(chunk: string): string | null {
  const folded = chunk.toLowerCase();
  return STOPPED.has(folded) ? null : stem(folded);
}

/** Adds the words of a run of characters of scripts that are written without spaces. */
type AddRun = (run: string, found: IndexTerm[]) => void;

function split(chunk: string, addRun: AddRun = addPairs): readonly IndexTerm[] {
  const found: IndexTerm[] = [];
  const composed = PLAIN.test(chunk) ? chunk : chunk.normalize('NFKC');
  const pieces = withoutContractions(composed).split(/[.\-:@'’]/);
  if (pieces.length > 1 && /[\d.@_]/.test(composed) && composed.length <= LONGEST) {
    found.push({ word: fold(composed), as: 'whole' });
  }
  for (const piece of pieces) addPiece(piece, found, addRun);
  if (HAN.test(composed)) for (const word of numberWords(composed)) found.push({ word, as: 'whole' });
  return found;
}

/** `Caroline's` becomes Caroline; `don't` and the French `l'` are removed. */
function withoutContractions(text: string): string {
  if (!/['’]/.test(text)) return text;
  return text
    .replace(/n['’]t\b/i, '')
    .replace(/['’](?:s|d|m|re|ve|ll|t)\b/i, '')
    .replace(/^(?:\p{L}|qu)['’]/iu, '');
}

function addPiece(piece: string, found: IndexTerm[], addRun: AddRun): void {
  let at = 0;
  for (const { 0: run, index } of PLAIN.test(piece) ? [] : piece.matchAll(UNSPACED)) {
    addName(piece.slice(at, index), found);
    addRun(run, found);
    at = index + run.length;
  }
  addName(piece.slice(at), found);
}

/** Adds every two neighbouring characters, and the last character: a word of one character is found as the beginning of a pair. */
function addPairs(run: string, found: IndexTerm[]): void {
  const characters = Array.from(foldHan(fold(run)));
  characters.forEach((character, index) => {
    const next = characters[index + 1];
    found.push({ word: next === undefined ? character : character + next, as: 'word' });
  });
}

/** Adds the pairs of each word of a run. The last character of a word is the first one of some pair in the text. */
function addWordsApart(run: string, found: IndexTerm[]): void {
  for (const word of wordsApart(run)) {
    const start = found.length;
    addPairs(word, found);
    if (found.length > start + 1) found.pop();
  }
}

function addName(piece: string, found: IndexTerm[]): void {
  const parts = piece.split(SEAMS).filter((part) => part !== '');
  if (parts.length > 1 && piece.length <= LONGEST) addWhole(fold(piece), found);
  // A single letter or digit of a version or a hash has no meaning of its own.
  for (const part of parts) if (parts.length === 1 || part.length > 1) addWord(part, found);
}

function addWhole(whole: string, found: IndexTerm[]): void {
  found.push({ word: whole, as: 'whole' });
  // People usually quote only the beginning of a hash.
  if (/^(?=.*\d)[\da-f]{12,}$/.test(whole)) found.push({ word: whole.slice(0, 7), as: 'other' });
}

function addWord(word: string, found: IndexTerm[]): void {
  if (word === '' || word.length > LONGEST) return;
  const folded = fold(word);
  if (STOPPED.has(folded)) return;
  found.push({ word: stem(folded), as: 'word' });
  const other = foldToDigraphs(word);
  if (other !== null && other !== folded) found.push({ word: stem(other), as: 'other' });
  for (const singular of germanSingulars(word, folded)) found.push({ word: stem(singular), as: 'other' });
}
