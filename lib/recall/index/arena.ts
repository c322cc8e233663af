/** The alignment of allocations, in bytes. */
export const PAGE = 4096;

/** The minimum size. */
const LEAST = 64 * PAGE;

/** Reusable memory for short-lived data. New buffers and views for each read would stay until they are collected. */
export class Arena {
  #bytes = Buffer.allocUnsafeSlow(0);
  #pages: Buffer[] = [];
  #used = 0;

  /** The buffer of the last allocation. Earlier allocations may be in older buffers, which live as long as they are referenced. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Allocates `size` bytes of `bytes`, valid until `clear`, and returns their offset, which is aligned to a page. */
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

  /** The page of `bytes` at that offset. */
  page(start: number): Buffer {
    this.#pages[start / PAGE] ??= this.#bytes.subarray(start, start + PAGE);
    return this.#pages[start / PAGE] ?? this.#bytes;
  }

  /** Frees all allocations. */
  clear(): void {
    this.#used = 0;
  }
}
