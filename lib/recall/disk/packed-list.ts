import { BEYOND, type DocumentList } from '../index/part.js';

/** The buffer for unpacked numbers. One is enough, because they are used at once. */
let room = new Uint32Array(4096);

/** A list of documents, stored as differences in Rice code and unpacked lazily. */
export class PackedList implements DocumentList {
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
