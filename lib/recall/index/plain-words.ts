import { withRoom } from './growing.js';

/** The initial size of the hash table, a power of two. */
const PLACES = 4096;

/**
 * A hash table that numbers words of ASCII letters, ignoring case. Lookups take a position in a text, so that no string is created. Compact arrays
 * keep it in the processor's caches while a long history is indexed.
 */
export class PlainWords {
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
