import type { Archive } from './index/archive.js';
import { UnsealedTail } from './unsealed-tail.js';

/** Keeps the index of a conversation's unsealed entries between searches. */
export class KeptTail {
  #tail: UnsealedTail | null = null;
  /** The version of the entries that it contains completely; empty if some are missing. */
  #version = '';
  #believesFiles = true;

  /** The tail with the new entries, as far as time allows. `folder` may contain files of an earlier process. */
  of(archive: Archive, folder: string, hasTime: () => boolean): UnsealedTail {
    if (this.#tail !== null && this.holds(archive)) return this.#tail;
    const entries = archive.rest();
    let tail = this.#tail;
    if (tail?.isBeginningOf(entries) !== true) {
      tail?.close();
      tail = new UnsealedTail(entries, folder, this.#believesFiles);
    }
    this.#tail = tail;
    this.#version = tail.add(entries, hasTime) ? archive.restVersion : '';
    return tail;
  }

  /** Whether it contains all unsealed entries. */
  holds({ restVersion }: Archive): boolean {
    return this.#version === restVersion;
  }

  /** Writes files that save the next process time. Throws system errors and a `HiError`. */
  async keep(archive: Archive): Promise<void> {
    if (this.holds(archive)) await this.#tail?.keep(archive);
  }

  /** Drops the tail if one of its files is damaged, so that both are rebuilt. */
  dropDamaged(): void {
    if (this.#tail?.areFilesSound() !== false) return;
    this.close();
    this.#believesFiles = false;
  }

  close(): void {
    this.#tail?.close();
    this.#tail = null;
    this.#version = '';
  }
}
