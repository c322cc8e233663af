import { CHUNK_HERE, LONGEST, plainWord, STOPPED, wordsOf } from './words.js';

/**
 * Calls `plain` for each word of ASCII letters with at most its first letter in upper case, and `other` for each other
 * chunk, in order, with the start and end. Most words are plain, and need no string.
 */
export function eachPiece(
  text: string,
  plain: (at: number, end: number) => void,
  other: (at: number, end: number) => void,
): void {
  for (let at = 0; at < text.length; ) {
    if (isSeparator(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = endOfLetters(text, at);
    if (end > at && end - at <= LONGEST && isEndOfPiece(text, end)) {
      plain(at, end);
      at = end;
      continue;
    }
    // Not `exec`, which creates an object for each match.
    CHUNK_HERE.lastIndex = at;
    if (CHUNK_HERE.test(text)) {
      other(at, CHUNK_HERE.lastIndex);
      at = CHUNK_HERE.lastIndex;
    } else at += 1;
  }
}

/** The end of a run of one ASCII letter of any case and lower-case ones. */
function endOfLetters(text: string, from: number): number {
  const first = text.charCodeAt(from) | 32;
  if (first < 97 || first > 122) return from;
  let end = from + 1;
  while (end < text.length && text.charCodeAt(end) > 96 && text.charCodeAt(end) < 123) end += 1;
  return end;
}

/** Whether a chunk certainly ends there, judging by ASCII characters. */
function isEndOfPiece(text: string, at: number): boolean {
  if (at >= text.length) return true;
  if (!isSeparator(text.charCodeAt(at))) return false;
  return !JOINTS.has(text.charCodeAt(at)) || at + 1 >= text.length || isSeparator(text.charCodeAt(at + 1));
}

/** The characters that join words into one name. */
const JOINTS: ReadonlySet<number> = new Set(Buffer.from(".-:@'"));

/** True for an ASCII character other than a letter, a digit or `_`. */
function isSeparator(code: number): boolean {
  if (code > 127) return false;
  const small = code | 32;
  return !(small > 96 && small < 123) && !(code > 47 && code < 58) && code !== 95;
}

/** The mask of a hash: it has enough bits that no two of a few hundred words collide. */
const HASH = 0x3fffffff;

/** The codes for stop words, and for other words that are not wanted. */
const STOP = -2;
const OTHER = -1;

const STOPPED_HASHES: ReadonlySet<number> = new Set(Array.from(STOPPED, (word) => hashOf(word, 0, word.length)));

/** Finds certain words in texts. Avoids creating strings for other words, which are nearly all words in a search. */
export class WantedWords {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #beginnings: ReadonlySet<number>;
  /** The code of each plain word, by its hash. */
  readonly #known = new Map<number, number>();

  constructor(wanted: readonly string[]) {
    this.#numbers = new Map(wanted.map((word, number) => [word, number]));
    this.#beginnings = new Set(wanted.map((word) => beginningAt(word, 0, word.length)));
  }

  /** Calls `found` for each word of a text, in order, with its number among the wanted words, or -1. */
  each(text: string, found: (number: number) => void): void {
    eachPiece(
      text,
      (at, end) => {
        const number = this.#numberOf(text, at, end);
        if (number !== STOP) found(number);
      },
      (at, end) => {
        for (const word of wordsOf(text.slice(at, end))) found(this.#numbers.get(word) ?? OTHER);
      },
    );
  }

  /** The code of a plain word. */
  #numberOf(text: string, at: number, end: number): number {
    const hash = hashOf(text, at, end);
    // Stemming does not change the beginning of a word.
    if (!this.#beginnings.has(beginningAt(text, at, end))) return STOPPED_HASHES.has(hash) ? STOP : OTHER;
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    const word = plainWord(text.slice(at, end));
    const number = word === null ? STOP : (this.#numbers.get(word) ?? OTHER);
    this.#known.set(hash, number);
    return number;
  }
}

/** A code for the first two letters of a plain word, ignoring case. */
function beginningAt(text: string, at: number, end: number): number {
  return ((text.charCodeAt(at) | 32) << 8) | (at + 1 < end ? text.charCodeAt(at + 1) | 32 : 0);
}

function hashOf(text: string, from: number, end: number): number {
  let hash = 0;
  for (let at = from; at < end; at += 1) hash = (Math.imul(hash, 31) + (text.charCodeAt(at) | 32)) & HASH;
  return hash;
}
