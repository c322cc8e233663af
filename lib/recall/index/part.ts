import type { Arena } from './arena.js';
import { countsOf } from './counts.js';

/** Whose words a message has. */
export const KINDS = ['user', 'model', 'call', 'tool', 'note', 'attached', 'foreign'] as const;

/**
 * `call` is a tool call without words, `tool` what a tool gave back, `note` what a command printed that the user ran, `attached` a message of the user with
 * files or input, `foreign` what the model wrote after reading what neither it nor the user wrote.
 */
export type Kind = (typeof KINDS)[number];

/** The kinds that one message tells by itself. */
export type PlainKind = Exclude<Kind, 'attached' | 'foreign'>;

/** One message as it is searched. */
export interface Document {
  readonly kind: Kind;
  /** Days since 1970, UTC. */
  readonly day: number;
  /** Where its JSON begins in the content of its frame. */
  readonly place: number;
  /** Everything in it that can be found. */
  readonly text: string;
}

/** A limit that is above each document. Not infinity, which is no whole number. */
export const BEYOND: number = 2 ** 31 - 1;

/** Documents that have a word equally often, in ascending order. */
export interface DocumentList {
  /** How often: see `FREQUENCIES`. */
  readonly code: number;
  /** What was read last is there from `first` on, until the next of any list is read. */
  readonly documents: Uint32Array;
  readonly first: number;
  /** Reads those below `limit` that were not read yet, and returns how many these are. */
  readBelow(limit: number): number;
}

/** Which documents a word is in. */
export interface Postings {
  /** How many documents. */
  readonly count: number;
  /** From the beginning, one list for each number of times. They hold until the arena is cleared. Throws what reading throws. */
  lists(arena: Arena): readonly DocumentList[];
}

/** A run of documents with an index of their words, on disk or in memory. Documents are numbered from 0. */
export interface IndexPart {
  readonly count: number;
  /** By document: the number of its kind in `KINDS`, and how long it is, as `lengthCode` has it. They hold until the next call of any part. */
  kinds(): Uint8Array;
  lengths(): Uint8Array;
  /** How many words all documents have, as `wordsIn` tells. */
  wordCount(): number;
  /** By document, days since 1970. */
  days(): Uint16Array;
  /** The documents with that word, null for none. */
  find(word: string): Postings | null;
  /** The words that begin so, at most `limit`. */
  beginningWith(start: string, limit: number): readonly string[];
  /** The words that end so, at most `limit`. Looks through all words. */
  endingWith(end: string, limit: number): readonly string[];
}

/** How many steps a doubling of the length has. */
const STEPS = 16;

/** A number of words in one byte. */
export function lengthCode(length: number): number {
  return Math.min(255, Math.round(Math.log2(length + 1) * STEPS));
}

/** The number of words that each byte stands for. */
export const LENGTHS: Float32Array = Float32Array.from({ length: 256 }, (_, code) => 2 ** (code / STEPS) - 1);

/** How many words documents of these lengths have together; in any order of them it is the same number. */
export function wordsIn(lengths: Uint8Array): number {
  return countsOf(lengths).reduce((sum, count, code) => sum + count * (LENGTHS[code] ?? 0), 0);
}
