/** Weights and scores are whole numbers of such parts: V8 puts each fraction that it computes before it compiles a loop on the heap, a million times in the first search. */
export const UNIT = 4096;

/** How many masks of one byte there are. */
const BYTE = 256;

/** What the terms of a mask weigh together, in parts of a unit. Sums by byte: a long history asks for a million masks. */
export class Weights {
  readonly #sums = new Int32Array(4 * BYTE);

  /** `weights` are those of the terms, by their bits. */
  constructor(weights: readonly number[]) {
    for (let index = 0; index < this.#sums.length; index += 1) {
      const first = 8 * Math.floor(index / BYTE);
      let sum = 0;
      for (let bit = 0; bit < 8; bit += 1) if ((index & (1 << bit)) !== 0) sum += weights[first + bit] ?? 0;
      this.#sums[index] = sum;
    }
  }

  of(mask: number): number {
    const sums = this.#sums;
    const lower = (sums[mask & 255] ?? 0) + (sums[BYTE + ((mask >>> 8) & 255)] ?? 0);
    if (mask >>> 16 === 0) return lower;
    return lower + (sums[2 * BYTE + ((mask >>> 16) & 255)] ?? 0) + (sums[3 * BYTE + (mask >>> 24)] ?? 0);
  }
}
