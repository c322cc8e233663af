import type { Postings, TakeDocuments } from '../index/part.js';
import { DocumentLists, FREQUENCIES } from '../index/postings.js';

/** Fewer documents than that have their frequencies with them, as variable-length numbers. */
const FEW = 4;

/** So many bytes behind postings have to be there, whatever they are. */
export const SLACK = 8;

/** The longest number that is written at once, in bits. */
const CHUNK = 24;

/** How many lower distances of a list are tried for the bits of its remainders: those of a word that comes in bursts are shorter than most. */
const TRIED = 3;

/**
 * Packs the documents of a word. Those of each frequency are a list of their own, for nearly all have the word once: a byte with the number of low bits, a
 * variable-length count, and the distances in Rice code, the high part as zeros and a one, then the low bits.
 */
export class PostingsPacker {
  #bytes = new Uint8Array(256);
  #length = 0;
  #held = 0;
  #filled = 0;

  /** The bytes stay as they are until the next call. */
  pack(lists: DocumentLists): Uint8Array {
    this.#length = 0;
    if (lists.count < FEW) this.#packFew(lists);
    else lists.each((documents, count, code) => this.#packList(documents, count, code));
    return this.#bytes.subarray(0, this.#length);
  }

  #packFew(lists: DocumentLists): void {
    const few: { readonly document: number; readonly code: number }[] = [];
    lists.each((documents, count, code) => {
      for (const document of documents.subarray(0, count)) few.push({ document, code });
    });
    let last = -1;
    for (const { document, code } of few.sort((one, other) => one.document - other.document)) {
      this.#number((document - last - 1) * FREQUENCIES.length + code);
      last = document;
    }
  }

  #packList(documents: Uint32Array, count: number, code: number): void {
    const low = lowBits(documents, count);
    this.#number(count * FREQUENCIES.length + code);
    this.#number(low);
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

/** How many low bits make the code of a list shortest. */
function lowBits(documents: Uint32Array, count: number): number {
  const mean = ((documents[count - 1] ?? 0) + 1) / count;
  const most = Math.max(0, Math.min(CHUNK, Math.ceil(Math.log2(mean))));
  let [best, least] = [most, Number.POSITIVE_INFINITY];
  for (let low = most; low >= 0 && low > most - TRIED; low -= 1) {
    let [size, last] = [count * low, -1];
    for (let index = 0; index < count; index += 1) {
      const document = documents[index] ?? 0;
      size += (document - last - 1) >>> low;
      last = document;
    }
    if (size < least) [best, least] = [low, size];
  }
  return best;
}

/** The documents of a word as they were packed, behind which there is some slack. */
export class PackedPostings implements Postings {
  readonly count: number;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(count: number, bytes: Uint8Array) {
    this.count = count;
    this.#bytes = bytes;
  }

  each(take: TakeDocuments): void {
    this.#at = 0;
    if (this.count < FEW) {
      const lists = new DocumentLists();
      for (let index = 0, last = -1; index < this.count; index += 1) {
        const value = this.#number();
        last += Math.floor(value / FREQUENCIES.length) + 1;
        lists.add(last, value % FREQUENCIES.length);
      }
      lists.each(take);
      return;
    }
    for (let left = this.count; left > 0; ) {
      const head = this.#number();
      const low = this.#number();
      const count = Math.floor(head / FREQUENCIES.length);
      left -= count;
      take(this.#list(Math.min(count, this.count), low), count, head % FREQUENCIES.length);
    }
  }

  #list(count: number, low: number): Uint32Array {
    const documents = roomFor(count);
    const bytes = this.#bytes;
    let [at, document] = [8 * this.#at, -1];
    for (let index = 0; index < count; index += 1) {
      const held = bitsAt(bytes, at);
      let high = Math.clz32(held);
      let rest = 0;
      if (high + low < 32) {
        if (low > 0) rest = (held << (high + 1)) >>> (32 - low);
      } else {
        high = zerosAt(bytes, at);
        if (low > 0) rest = bitsAt(bytes, at + high + 1) >>> (32 - low);
      }
      document += (high << low) + rest + 1;
      documents[index] = document;
      at += high + 1 + low;
    }
    this.#at = (at + 7) >>> 3;
    return documents;
  }

  #number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}

/** 32 bits from that one on. */
function bitsAt(bytes: Uint8Array, at: number): number {
  const byte = at >>> 3;
  const shift = at & 7;
  const first = ((bytes[byte] ?? 0) << 24) | ((bytes[byte + 1] ?? 0) << 16);
  const second = ((bytes[byte + 2] ?? 0) << 8) | (bytes[byte + 3] ?? 0);
  return ((first | second) << shift) | ((bytes[byte + 4] ?? 0) >>> (8 - shift));
}

/** How many zeros there are from that bit on. */
function zerosAt(bytes: Uint8Array, at: number): number {
  let zeros = 0;
  for (;;) {
    const here = Math.clz32(bitsAt(bytes, at + zeros));
    zeros += here;
    if (here < 32 || at + zeros > 8 * bytes.length) return zeros;
  }
}

/** What is unpacked is used at once: one room for it does. */
let room = new Uint32Array(1024);

function roomFor(count: number): Uint32Array {
  if (room.length < count) room = new Uint32Array(2 * count);
  return room;
}
