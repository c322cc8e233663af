/** A slab is at least so large. */
const SLAB = 256 * 1024;

/** Memory for what is read for a short time, used again and again: fresh memory for each would stay until it is collected. */
export class Arena {
  #slab = Buffer.allocUnsafeSlow(0);
  #used = 0;

  /** Bytes that hold until `clear`. */
  take(size: number): Buffer {
    if (this.#used + size > this.#slab.length) {
      // What was taken of the old slab lives on with those who have it.
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB, 2 * size, 2 * this.#slab.length));
      this.#used = 0;
    }
    this.#used += size;
    return this.#slab.subarray(this.#used - size, this.#used);
  }

  /** Gives all of it free. */
  clear(): void {
    this.#used = 0;
  }
}
