import type { Archive } from './index/archive.js';
import { UnsealedTail } from './unsealed-tail.js';

/** What is not sealed of a conversation, as it was looked at last. */
export class KeptTail {
  #tail: UnsealedTail | null = null;
  /** What it holds all of; empty where something is missing. */
  #version = '';
  #believesFiles = true;

  /** The tail with what is new, as far as there is time. `folder` may hold what was cut into words of it before. */
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

  /** Whether all of it was taken in. */
  holds({ restVersion }: Archive): boolean {
    return this.#version === restVersion;
  }

  /** Writes what saves the next process time. Throws what the system throws. */
  keep(archive: Archive): void {
    if (this.holds(archive)) this.#tail?.keep(() => archive.rest());
  }

  /** Forgets it where a file of it is damaged: it is made anew, and so are its files. */
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
