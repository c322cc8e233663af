import type { Entry } from './entry.js';

/**
 * What is held of a log: the number of its entries, and the sum of their content. Whether it is still a beginning of the log is decided by that alone: a log
 * that was rewritten may have the same first and last id, and ids of entries that were never written are used again.
 */
export class HeldEntries {
  #count = 0;
  #sum = 0;

  /** The held entries, oldest first. */
  static of(entries: Iterable<Entry>): HeldEntries {
    const held = new HeldEntries();
    for (const entry of entries) held.add(entry);
    return held;
  }

  get count(): number {
    return this.#count;
  }

  /** A CRC-32, for comparison with one that was stored. */
  get sum(): number {
    return this.#sum;
  }

  /** Holds the next entry too. */
  add(entry: Entry): void {
    this.#count += 1;
    this.#sum = process.getBuiltinModule('node:zlib').crc32(JSON.stringify(entry), this.#sum);
  }

  /** True if these entries begin with the held ones. */
  isBeginningOf(entries: readonly Entry[]): boolean {
    return entries.length >= this.#count && HeldEntries.of(entries.slice(0, this.#count)).sum === this.#sum;
  }
}
