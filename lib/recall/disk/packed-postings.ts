import type { DocumentList, Postings } from '../index/part.js';
import { FREQUENCIES, FrequencyLists } from '../index/postings.js';
import { NumberReader } from './numbers.js';
import { PackedList } from './packed-list.js';

/** Fewer documents than that have their frequencies with them, as variable-length numbers. */
const FEW = 4;

/** So many bytes behind postings have to be there, whatever they are. */
export const SLACK = 8;

/** The longest number that is written at once, in bits. */
const CHUNK = 24;

/** How many lower distances of a list are tried for the bits of its remainders: those of a word that comes in bursts are shorter than most. */
const TRIED = 3;

/**
 * Packs the documents of a word. Those of each frequency are a list of their own, for nearly all have the word once: how
 * many there are, how many low bits each distance has, where the next list begins, and the distances in Rice code: the high part as zeros and a one, then the low bits.
 */
export class PostingsPacker {
  #bytes = new Uint8Array(256);
  #length = 0;
  #held = 0;
  #filled = 0;

  /** The bytes stay as they are until the next call. */
  pack(lists: FrequencyLists): Uint8Array {
    this.#length = 0;
    if (lists.count < FEW) this.#packFew(lists);
    else {
      let left = lists.count;
      for (let code = 0; left > 0; code += 1) {
        const count = lists.lengthOf(code);
        left -= count;
        if (count > 0) this.#packList(lists.documentsOf(code), count, code, left === 0);
      }
    }
    return this.#bytes.subarray(0, this.#length);
  }

  #packFew(lists: FrequencyLists): void {
    const few: number[] = [];
    for (let code = 0; few.length < lists.count; code += 1) {
      const documents = lists.documentsOf(code);
      const count = lists.lengthOf(code);
      for (let index = 0; index < count; index += 1) few.push((documents[index] ?? 0) * FREQUENCIES.length + code);
    }
    if (few.length > 1) few.sort((one, other) => one - other);
    let next = 0;
    for (const value of few) {
      this.#number(value - next);
      next = (Math.floor(value / FREQUENCIES.length) + 1) * FREQUENCIES.length;
    }
  }

  #packList(documents: Uint32Array, count: number, code: number, isLast: boolean): void {
    const { low, size } = bestCode(documents, count);
    this.#number(count * FREQUENCIES.length + code);
    this.#number(low);
    if (!isLast) this.#number(size);
    let last = -1;
    for (let index = 0; index < count; index += 1) {
      const document = documents[index] ?? 0;
      const distance = document - last - 1;
      last = document;
      let high = distance >>> low;
      for (; high >= CHUNK; high -= CHUNK) this.#bits(0, CHUNK);
      this.#bits(1, high + 1);
      this.#bits(distance & ((1 << low) - 1), low);
    }
    this.#bits(0, -this.#filled & 7);
  }

  #bits(value: number, bits: number): void {
    this.#held = (this.#held << bits) | value;
    this.#filled += bits;
    while (this.#filled >= 8) {
      this.#filled -= 8;
      this.#byte(this.#held >>> this.#filled);
    }
    this.#held &= (1 << this.#filled) - 1;
  }

  #number(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#byte((rest % 128) + 128);
    this.#byte(rest);
  }

  #byte(value: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = value;
  }
}

/** How many low bits make the code of a list shortest, and how many bytes it takes. */
function bestCode(documents: Uint32Array, count: number): { readonly low: number; readonly size: number } {
  const mean = ((documents[count - 1] ?? 0) + 1) / count;
  const most = Math.max(0, Math.min(CHUNK, Math.ceil(Math.log2(mean))));
  let [best, least] = [most, Number.POSITIVE_INFINITY];
  for (let low = most; low >= 0 && low > most - TRIED; low -= 1) {
    let [bits, last] = [count * (low + 1), -1];
    for (let index = 0; index < count; index += 1) {
      const document = documents[index] ?? 0;
      bits += (document - last - 1) >>> low;
      last = document;
    }
    if (bits < least) [best, least] = [low, bits];
  }
  return { low: best, size: Math.ceil(least / 8) };
}

/** Where the few documents of a rare word are put in lists. */
const few = new FrequencyLists();

/** The documents of a word as they were packed, from that byte on; behind them there is some slack. */
export class PackedPostings implements Postings {
  readonly count: number;
  readonly #bytes: Uint8Array;
  readonly #start: number;

  constructor(count: number, bytes: Uint8Array, start: number) {
    this.count = count;
    this.#bytes = bytes;
    this.#start = start;
  }

  lists(): readonly DocumentList[] {
    if (this.count < FEW) {
      few.clear();
      this.#addFew(few, 0);
      return few.lists();
    }
    const numbers = new NumberReader(this.#bytes, this.#start);
    const lists: DocumentList[] = [];
    for (let left = this.count; left > 0; ) {
      const head = numbers.next();
      const low = numbers.next();
      const count = Math.floor(head / FREQUENCIES.length);
      left -= count;
      const size = left > 0 ? numbers.next() : 0;
      lists.push(new PackedList(head % FREQUENCIES.length, count, low, this.#bytes, numbers.at));
      numbers.at += size;
    }
    return lists;
  }

  /** Adds the documents to lists; their numbers begin at `start`. */
  addTo(lists: FrequencyLists, start: number): void {
    if (this.count < FEW) this.#addFew(lists, start);
    else for (const list of this.lists()) lists.addAll(list, start);
  }

  #addFew(lists: FrequencyLists, start: number): void {
    const numbers = new NumberReader(this.#bytes, this.#start);
    for (let index = 0, next = start; index < this.count; index += 1) {
      const value = numbers.next();
      const document = next + Math.floor(value / FREQUENCIES.length);
      lists.add(document, value % FREQUENCIES.length);
      next = document + 1;
    }
  }
}
