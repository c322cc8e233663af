import { eachPiece } from './each-piece.js';
import { plainWord, STOPPED, wordsOf } from './words.js';

/** How many bits a hash has: enough that no two of some hundred words have one. */
const HASH = 0x3fffffff;

/** What a word is that says nothing, and any other that is not wanted. */
const STOP = -2;
const OTHER = -1;

const STOPPED_HASHES: ReadonlySet<number> = new Set(Array.from(STOPPED, (word) => hashOf(word, 0, word.length)));

/** Finds some words in texts. Makes no text of what is plainly another word, nor twice of the same: in a search that is nearly all there is. */
export class WantedWords {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #beginnings: ReadonlySet<number>;
  /** By the hash of a plain word, what it is. */
  readonly #known = new Map<number, number>();

  constructor(wanted: readonly string[]) {
    this.#numbers = new Map(wanted.map((word, number) => [word, number]));
    this.#beginnings = new Set(wanted.map((word) => beginningAt(word, 0, word.length)));
  }

  /** Calls `found` for each word of a text, in order: with its number among those that are wanted, -1 for any other. */
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

  /** What a plain word is. */
  #numberOf(text: string, at: number, end: number): number {
    const hash = hashOf(text, at, end);
    // Without its endings a word still begins as it did.
    if (!this.#beginnings.has(beginningAt(text, at, end))) return STOPPED_HASHES.has(hash) ? STOP : OTHER;
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    const word = plainWord(text.slice(at, end));
    const number = word === null ? STOP : (this.#numbers.get(word) ?? OTHER);
    this.#known.set(hash, number);
    return number;
  }
}

/** The first two letters of a plain word, in any case. */
function beginningAt(text: string, at: number, end: number): number {
  return ((text.charCodeAt(at) | 32) << 8) | (at + 1 < end ? text.charCodeAt(at + 1) | 32 : 0);
}

function hashOf(text: string, from: number, end: number): number {
  let hash = 0;
  for (let at = from; at < end; at += 1) hash = (Math.imul(hash, 31) + (text.charCodeAt(at) | 32)) & HASH;
  return hash;
}
