import { CHUNK, LONGEST, STOPPED, wordsOf } from './words.js';

/** How many bits a hash has: enough that no two of some hundred words have one. */
const HASH = 0x3fffffff;

const STOPPED_HASHES: ReadonlySet<number> = new Set(Array.from(STOPPED, (word) => hashOf(word, 0, word.length)));

/** Finds some words in texts. Makes no text of what is plainly another word: in a search that is nearly all there is. */
export class WantedWords {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #beginnings: ReadonlySet<number>;

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
      // Without its endings a word still begins as it did.
      if (
        end > at &&
        end - at <= LONGEST &&
        isEndOfChunk(text, end) &&
        !this.#beginnings.has(beginningAt(text, at, end))
      ) {
        if (!STOPPED_HASHES.has(hashOf(text, at, end))) found(-1);
        at = end;
      } else at = this.#chunk(text, at, found);
    }
  }

  /** The next piece of text that is not plain letters alone, or may be wanted. Returns where it ends. */
  #chunk(text: string, at: number, found: (number: number) => void): number {
    CHUNK.lastIndex = at;
    const match = CHUNK.exec(text);
    CHUNK.lastIndex = 0;
    if (match === null) return text.length;
    const { 0: chunk, index } = match;
    for (const word of wordsOf(chunk)) found(this.#numbers.get(word) ?? -1);
    return index + chunk.length;
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
