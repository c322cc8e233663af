/** A piece of output, with its counts. */
export interface CountedBytes {
  readonly bytes: Buffer;
  /** The number of UTF-16 units after decoding from UTF-8; an estimate if it is not UTF-8. */
  readonly characters: number;
  /** The number of newlines. */
  readonly lines: number;
}

const FIRST_BITS = ~0x7f7f7f7f;
const OTHER_BITS = 0x7f7f7f7f;
const LAST_BITS = 0x01010101;
const NEWLINE = 0x0a;
const NEWLINES = 0x0a0a0a0a;

/** Counts four bytes at a time: a decoded gigabyte would take ten times as long. */
export function countBytes(bytes: Buffer): CountedBytes {
  let characters = bytes.length;
  let lines = 0;
  const words = wordsOf(bytes);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? 0;
    const other = word ^ NEWLINES;
    // The first bit of each byte that is zero, that is, was a newline.
    const zero = ~(((other & OTHER_BITS) + OTHER_BITS) | other | OTHER_BITS);
    if (zero !== 0) lines += bitsIn(zero >>> 7);
    if ((word & FIRST_BITS) !== 0) characters += beyondBytes(word);
  }
  for (const byte of bytes.subarray(words.length * 4)) {
    if (byte === NEWLINE) lines += 1;
    else if (byte >= 0x80) characters += beyondBytes(byte);
  }
  return { bytes, characters, lines };
}

/** Bytes that continue a character do not count, and the first of four counts as two: a surrogate pair. */
const beyondBytes = (word: number): number =>
  bitsIn((word >>> 7) & (word >>> 6) & (word >>> 5) & (word >>> 4)) - bitsIn((word >>> 7) & ~(word >>> 6));

/** All bytes but the last few, four in a number; none where they do not begin at a whole number. */
function wordsOf(bytes: Buffer): Int32Array {
  const isAligned = bytes.byteOffset % 4 === 0;
  return new Int32Array(bytes.buffer, isAligned ? bytes.byteOffset : 0, isAligned ? bytes.length >>> 2 : 0);
}

/** How many of the last bits of the four bytes are set. */
const bitsIn = (word: number): number => Math.imul(word & LAST_BITS, LAST_BITS) >>> 24;
