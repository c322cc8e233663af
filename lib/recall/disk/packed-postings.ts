import { BEYOND, type DocumentList, FREQUENCIES, FrequencyLists, type Postings } from '../index/part.js';
import { NumberReader } from './pages.js';

/** Fewer documents than this are stored with their frequencies as variable-length numbers. */
const FEW = 4;

/** The number of bytes that must exist after postings, whatever their values. */
export const SLACK = 8;

/** The maximum number of bits written at once. */
const CHUNK = 24;

/**
 * The number of smaller parameters to try for the Rice code, because a word that occurs in bursts has mostly small
 * differences.
 */
const TRIED = 3;

/**
 * Packs the documents of a word. There is one list for each frequency, because in nearly all documents the word occurs
 * once. A list consists of its length, the number of low bits, the offset of the next list, and the differences in Rice
 * code: the high part as zeros and a one, then the low bits.
 */
export class PostingsPacker {
  #bytes = new Uint8Array(256);
  #length = 0;
  #held = 0;
  #filled = 0;

  /** The result is valid until the next call. */
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

/** The number of low bits that gives the shortest code for a list, and its size in bytes. */
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

/** The lists for the few documents of a rare word. */
const few = new FrequencyLists();

/** The packed documents of a word, from an offset on. `SLACK` bytes follow them. */
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

  /** Adds the documents to lists, numbered from `start`. */
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

/** The buffer for unpacked numbers. One is enough, because they are used at once. */
let room = new Uint32Array(4096);

/** A list of documents, stored as differences in Rice code and unpacked lazily. */
class PackedList implements DocumentList {
  readonly code: number;
  readonly first = 0;
  /** The number of low bits of each difference. */
  readonly #low: number;
  readonly #bytes: Uint8Array;
  /** The position of the next bit. */
  #at: number;
  /** The number of documents that are still packed, without the next one, which is already known. */
  #left: number;
  #next: number;

  /** `count` documents, packed from byte `start` on. */
  constructor(code: number, count: number, low: number, bytes: Uint8Array, start: number) {
    this.code = code;
    this.#low = low;
    this.#bytes = bytes;
    this.#at = 8 * start;
    this.#left = count;
    this.#next = -1;
    this.#skip(0);
  }

  get documents(): Uint32Array {
    return room;
  }

  readBelow(limit: number): number {
    if (this.#next >= limit) return 0;
    const most = Math.min(this.#left + 1, limit - this.#next);
    if (room.length < most) room = new Uint32Array(2 * most);
    return this.#skip(limit);
  }

  /** Skips all below `limit`, and reads the one after them. */
  #skip(limit: number): number {
    const bytes = this.#bytes;
    const low = this.#low;
    let at = this.#at;
    let left = this.#left;
    let next = this.#next;
    let count = 0;
    while (next < limit) {
      if (next >= 0) room[count++] = next;
      if (left === 0) {
        next = BEYOND;
        break;
      }
      left -= 1;
      const held = bitsAt(bytes, at);
      let high = Math.clz32(held);
      let rest = 0;
      if (high + low < 32) {
        if (low > 0) rest = (held << (high + 1)) >>> (32 - low);
      } else {
        high = zerosAt(bytes, at);
        if (low > 0) rest = bitsAt(bytes, at + high + 1) >>> (32 - low);
      }
      next += (high << low) + rest + 1;
      at += high + 1 + low;
    }
    this.#at = at;
    this.#left = left;
    this.#next = next;
    return count;
  }
}

/** The 32 bits from `at` on. */
function bitsAt(bytes: Uint8Array, at: number): number {
  const byte = at >>> 3;
  const shift = at & 7;
  const first = ((bytes[byte] ?? 0) << 24) | ((bytes[byte + 1] ?? 0) << 16);
  const second = ((bytes[byte + 2] ?? 0) << 8) | (bytes[byte + 3] ?? 0);
  return ((first | second) << shift) | ((bytes[byte + 4] ?? 0) >>> (8 - shift));
}

/** The number of zero bits from `at` on. */
function zerosAt(bytes: Uint8Array, at: number): number {
  let zeros = 0;
  for (;;) {
    const here = Math.clz32(bitsAt(bytes, at + zeros));
    zeros += here;
    if (here < 32 || at + zeros > 8 * bytes.length) return zeros;
  }
}
