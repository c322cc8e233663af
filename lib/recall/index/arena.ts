/** What is taken begins where a page does. */
export const PAGE = 4096;

/** There is at least so much room. */
const LEAST = 64 * PAGE;

/** Memory for what is read for a short time, used again and again: fresh memory for each, and a view of it, would stay until it is collected. */
export class Arena {
  #bytes = Buffer.allocUnsafeSlow(0);
  #pages: Buffer[] = [];
  #used = 0;

  /** Where the bytes are that were taken last. Those taken before may be in others, and live on with those who have them. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Takes so many of `bytes`, which hold until `clear`, and returns where they begin: where a page does. */
  take(size: number): number {
    if (this.#used + size > this.#bytes.length) {
      const length = Math.max(LEAST, 2 * this.#bytes.length, Math.ceil(size / PAGE) * PAGE);
      this.#bytes = Buffer.allocUnsafeSlow(length);
      this.#pages = [];
      this.#used = 0;
    }
    const start = this.#used;
    this.#used = Math.ceil((start + size) / PAGE) * PAGE;
    return start;
  }

  /** The page of `bytes` that begins there. */
  page(start: number): Buffer {
    this.#pages[start / PAGE] ??= this.#bytes.subarray(start, start + PAGE);
    return this.#pages[start / PAGE] ?? this.#bytes;
  }

  /** Gives all of it free. */
  clear(): void {
    this.#used = 0;
  }
}
