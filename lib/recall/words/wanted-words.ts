import { CHUNK_HERE, LONGEST, plainWord, STOPPED, wordsOf } from './words.js';

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
    for (let at = 0; at < text.length; ) {
      if (isSeparator(text.charCodeAt(at))) {
        at += 1;
        continue;
      }
      const end = endOfLetters(text, at);
      if (end > at && end - at <= LONGEST && isEndOfChunk(text, end)) {
        const number = this.#numberOf(text, at, end);
        if (number !== STOP) found(number);
        at = end;
      } else at = this.#chunk(text, at, found);
    }
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

  /** The next piece of text that is not plain letters alone. Returns where it ends. */
  #chunk(text: string, at: number, found: (number: number) => void): number {
    // Not `exec`, which makes an object of what it finds.
    CHUNK_HERE.lastIndex = at;
    if (!CHUNK_HERE.test(text)) return at + 1;
    const end = CHUNK_HERE.lastIndex;
    for (const word of wordsOf(text.slice(at, end))) found(this.#numbers.get(word) ?? OTHER);
    return end;
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

/** The end of a letter of any case and small ones, all of them plain. */
function endOfLetters(text: string, from: number): number {
  const first = text.charCodeAt(from) | 32;
  if (first < 97 || first > 122) return from;
  let end = from + 1;
  while (end < text.length && text.charCodeAt(end) > 96 && text.charCodeAt(end) < 123) end += 1;
  return end;
}

/** Whether a piece of text that words are made of ends there, as far as plain characters tell. */
function isEndOfChunk(text: string, at: number): boolean {
  if (at >= text.length) return true;
  if (!isSeparator(text.charCodeAt(at))) return false;
  return !JOINTS.has(text.charCodeAt(at)) || at + 1 >= text.length || isSeparator(text.charCodeAt(at + 1));
}

/** What joins words into one name. */
const JOINTS: ReadonlySet<number> = new Set(Buffer.from(".-:@'"));

/** Whether it is a plain character that is neither letter nor digit nor `_`. */
function isSeparator(code: number): boolean {
  if (code > 127) return false;
  const small = code | 32;
  return !(small > 96 && small < 123) && !(code > 47 && code < 58) && code !== 95;
}
