import { eachPiece, plainWord, unshared, wordsOf } from '../words/words.js';
import {
  countsOf,
  type Document,
  type IndexPart,
  KINDS,
  lengthCode,
  type Postings,
  RepeatedDocuments,
  withRoom,
  wordsIn,
} from './part.js';

/** The documents of all words, word after word, and the offset for each word. */
interface Sorted {
  readonly starts: Int32Array;
  readonly documents: Uint32Array;
}

/** Indexes documents in memory, in order. Words are stored in text order, and sorted before the first lookup. */
export class Collector implements IndexPart {
  readonly #vocabulary: Vocabulary;
  /** The numbers of the words of all documents, and the end of each document. */
  #numbers = new Int32Array(1024);
  readonly #ends: number[] = [];
  #length = 0;
  #sorted: Sorted | null = null;
  readonly #kinds: number[] = [];
  readonly #lengths: number[] = [];
  readonly #days: number[] = [];

  /** `vocabulary` may be shared with other collectors, which saves time when indexing much text. */
  constructor(vocabulary: Vocabulary = new Vocabulary()) {
    this.#vocabulary = vocabulary;
  }

  add({ kind, day, text }: Pick<Document, 'kind' | 'day' | 'text'>): void {
    const start = this.#length;
    this.#vocabulary.each(text, this.#take);
    this.#ends.push(this.#length);
    this.#sorted = null;
    this.#kinds.push(KINDS.indexOf(kind));
    this.#lengths.push(lengthCode(this.#length - start));
    this.#days.push(Math.max(0, Math.min(65_535, day)));
  }

  get count(): number {
    return this.#kinds.length;
  }

  kinds(): Uint8Array {
    return Uint8Array.from(this.#kinds);
  }

  lengths(): Uint8Array {
    return Uint8Array.from(this.#lengths);
  }

  wordCount(): number {
    return wordsIn(this.lengths());
  }

  kindCounts(): ArrayLike<number> {
    return countsOf(this.kinds());
  }

  days(): Uint16Array {
    return Uint16Array.from(this.#days);
  }

  find(word: string): Postings | null {
    const number = this.#vocabulary.find(word);
    return number === null ? null : this.#postingsOf(number);
  }

  beginningWith(start: string, limit: number): readonly string[] {
    return this.#wordsThat((word) => word.startsWith(start), limit);
  }

  endingWith(end: string, limit: number): readonly string[] {
    return this.#wordsThat((word) => word.endsWith(end), limit);
  }

  /** All words with their documents. */
  *entries(): Generator<readonly [word: string, postings: RepeatedDocuments]> {
    for (let number = 0; number < this.#vocabulary.size; number += 1) {
      const postings = this.#postingsOf(number);
      if (postings !== null) yield [this.#vocabulary.word(number), postings];
    }
  }

  readonly #take = (number: number): void => {
    this.#numbers = withRoom(this.#numbers, this.#length + 1);
    this.#numbers[this.#length++] = number;
  };

  #wordsThat(fits: (word: string) => boolean, limit: number): readonly string[] {
    const words = Array.from(this.entries(), ([word]) => word);
    return words.filter(fits).slice(0, limit);
  }

  #postingsOf(number: number): RepeatedDocuments | null {
    this.#sorted ??= this.#sort();
    const { starts, documents } = this.#sorted;
    const [start, end] = [starts[number] ?? 0, starts[number + 1] ?? 0];
    return start < end ? new RepeatedDocuments(documents.subarray(start, end)) : null;
  }

  #sort(): Sorted {
    const numbers = this.#numbers;
    const starts = new Int32Array(this.#vocabulary.size + 1);
    for (let at = 0; at < this.#length; at += 1)
      starts[(numbers[at] ?? 0) + 1] = (starts[(numbers[at] ?? 0) + 1] ?? 0) + 1;
    for (let number = 1; number < starts.length; number += 1)
      starts[number] = (starts[number] ?? 0) + (starts[number - 1] ?? 0);
    const next = starts.slice();
    const documents = new Uint32Array(this.#length);
    let at = 0;
    for (const [document, end] of this.#ends.entries()) {
      for (; at < end; at += 1) {
        const number = numbers[at] ?? 0;
        const place = next[number] ?? 0;
        next[number] = place + 1;
        documents[place] = document;
      }
    }
    return { starts, documents };
  }
}

/** The number of cached chunks from which a new vocabulary is better. */
const KEPT = 16_000;

/** The code of a stop word, which has no number. */
const STOP = -1;

/** Numbers words from 0 on, and caches the numbers of the words in each chunk, because most chunks occur again. */
export class Vocabulary {
  readonly #words: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #plain = new PlainWords();
  readonly #others = new Map<string, readonly number[]>();

  /** The number of words. */
  get size(): number {
    return this.#words.length;
  }

  /** True if a new vocabulary is better. */
  get isFull(): boolean {
    return this.#plain.size + this.#others.size > KEPT;
  }

  /** The word with that number. */
  word(number: number): string {
    return this.#words[number] ?? '';
  }

  /** The number of a word, null for an unknown one. */
  find(word: string): number | null {
    return this.#numbers.get(word) ?? null;
  }

  /** Calls `found` with the number of each word of a text, in order. */
  each(text: string, found: (number: number) => void): void {
    eachPiece(
      text,
      (at, end) => {
        const number = this.#plain.find(text, at, end, this.#learn);
        if (number !== STOP) found(number);
      },
      (at, end) => {
        for (const number of this.#ofOther(text.slice(at, end))) found(number);
      },
    );
  }

  readonly #learn = (piece: string): number => {
    const word = plainWord(piece);
    return word === null ? STOP : this.#numberOf(unshared(word));
  };

  #ofOther(piece: string): readonly number[] {
    const known = this.#others.get(piece);
    if (known !== undefined) return known;
    const own = unshared(piece);
    const numbers = wordsOf(own).map((word) => this.#numberOf(word));
    this.#others.set(own, numbers);
    return numbers;
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#words.length;
    this.#words.push(word);
    this.#numbers.set(word, number);
    return number;
  }
}

/** The initial size of the hash table, a power of two. */
const PLACES = 4096;

/**
 * A hash table that numbers words of ASCII letters, ignoring case. Lookups take a position in a text, so that no string
 * is created. Compact arrays keep it in the processor's caches while a long history is indexed.
 */
class PlainWords {
  /** By hash: one more than the index of the word, 0 for none. */
  #places = new Int32Array(PLACES);
  #count = 0;
  /** By word: its hash, the offset of its letters, and its number. */
  #hashes = new Int32Array(PLACES);
  #begins = new Int32Array(PLACES);
  #numbers = new Int32Array(PLACES);
  #letters = new Uint8Array(8 * PLACES);

  get size(): number {
    return this.#count;
  }

  /** The number of a word. For a new word, the result of `learn`. */
  find(text: string, at: number, end: number, learn: (word: string) => number): number {
    const hash = hashOf(text, at, end);
    const places = this.#places;
    let place = hash & (places.length - 1);
    for (let word = places[place] ?? 0; word > 0; word = places[place] ?? 0) {
      if (this.#hashes[word - 1] === hash && this.#isAt(word - 1, text, at, end)) return this.#numbers[word - 1] ?? 0;
      place = (place + 1) & (places.length - 1);
    }
    const number = learn(text.slice(at, end));
    this.#add(hash, number, text, at, end);
    return number;
  }

  #isAt(word: number, text: string, at: number, end: number): boolean {
    const letters = this.#letters;
    const begin = this.#begins[word] ?? 0;
    if ((this.#begins[word + 1] ?? 0) - begin !== end - at) return false;
    for (let index = at; index < end; index += 1) {
      if (letters[begin + index - at] !== (text.charCodeAt(index) | 32)) return false;
    }
    return true;
  }

  #add(hash: number, number: number, text: string, at: number, end: number): void {
    const word = this.#count++;
    const begin = this.#begins[word] ?? 0;
    this.#hashes = withRoom(this.#hashes, word + 1);
    this.#numbers = withRoom(this.#numbers, word + 1);
    this.#begins = withRoom(this.#begins, word + 2);
    this.#letters = withRoom(this.#letters, begin + end - at);
    for (let index = at; index < end; index += 1) this.#letters[begin + index - at] = text.charCodeAt(index) | 32;
    this.#begins[word + 1] = begin + end - at;
    this.#hashes[word] = hash;
    this.#numbers[word] = number;
    if (2 * this.#count > this.#places.length) this.#spread();
    else this.#put(word);
  }

  /** Doubles the table. */
  #spread(): void {
    this.#places = new Int32Array(2 * this.#places.length);
    for (let word = 0; word < this.#count; word += 1) this.#put(word);
  }

  #put(word: number): void {
    const places = this.#places;
    let place = (this.#hashes[word] ?? 0) & (places.length - 1);
    while ((places[place] ?? 0) > 0) place = (place + 1) & (places.length - 1);
    places[place] = word + 1;
  }
}

function hashOf(text: string, at: number, end: number): number {
  let hash = 0;
  for (let index = at; index < end; index += 1) hash = Math.imul(hash ^ (text.charCodeAt(index) | 32), 0x01000193);
  return hash ^ (hash >>> 15);
}
