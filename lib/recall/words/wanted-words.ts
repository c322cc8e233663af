import { eachPiece } from './each-piece.js';
import { plainWord, STOPPED, wordsOf } from './words.js';

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
