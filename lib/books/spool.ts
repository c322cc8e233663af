import { closeSync, openSync } from 'node:fs';
import { removeIfThere } from '../disk.js';
import { loadCodec, readAt, writeAt } from '../history/file/codec.js';
import type { BookFiles, BookMessage } from './book.js';

/** Where a conversation is in the spool. */
interface Place {
  /** When it began; empty if no message of it has a time. */
  readonly at: string;
  readonly offset: number;
  readonly size: number;
  readonly content: number;
}

/**
 * The conversations of an import, compressed in a file until all are known: exports have the newest first, a book has
 * it last.
 */
export class Spool {
  readonly #path: string;
  readonly #file: number;
  readonly #places: Place[] = [];
  #end = 0;

  constructor({ history }: BookFiles) {
    this.#path = `${history}.threads.${process.pid}.new`;
    removeIfThere(this.#path);
    this.#file = openSync(this.#path, 'wx+', 0o600);
  }

  get length(): number {
    return this.#places.length;
  }

  add(messages: readonly BookMessage[]): void {
    const content = Buffer.from(JSON.stringify(messages));
    const bytes = loadCodec().compress(content);
    writeAt(this.#file, bytes, this.#end);
    const at = messages.find((message) => message.at !== '')?.at ?? '';
    this.#places.push({ at, offset: this.#end, size: bytes.length, content: content.length });
    this.#end += bytes.length;
  }

  /** The conversations in the order in which they began. */
  *inOrder(): Generator<readonly BookMessage[]> {
    const places = this.#places.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
    for (const { offset, size, content } of places) {
      const bytes = readAt(this.#file, offset, size);
      yield JSON.parse(loadCodec().decompress(bytes, { content, exact: true }).toString());
    }
  }

  discard(): void {
    closeSync(this.#file);
    removeIfThere(this.#path);
  }
}
