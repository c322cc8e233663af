/**
 * Weights and scores are integers in units of 1/4096: until V8 compiles a loop, it allocates every fraction on the heap, a million times in the first search.
 */
export const UNIT = 4096;

/** The number of masks of one byte. */
const BYTE = 256;

/** The total weight of the terms in a mask, in parts of a unit. Uses a table for each byte, because a long history needs a million sums. */
export class Weights {
  readonly #sums = new Int32Array(4 * BYTE);

  /** `weights` of the terms, by bit. */
  constructor(weights: readonly number[]) {
    const sums = this.#sums;
    // Each weight doubles the finished part of its table.
    weights.forEach((weight, index) => {
      const first = BYTE * (index >> 3);
      const size = 1 << (index & 7);
      for (let at = first; at < first + size; at += 1) sums[at + size] = (sums[at] ?? 0) + weight;
    });
  }

  of(mask: number): number {
    const sums = this.#sums;
    const lower = (sums[mask & 255] ?? 0) + (sums[BYTE + ((mask >>> 8) & 255)] ?? 0);
    if (mask >>> 16 === 0) return lower;
    return lower + (sums[2 * BYTE + ((mask >>> 16) & 255)] ?? 0) + (sums[3 * BYTE + (mask >>> 24)] ?? 0);
  }
}
