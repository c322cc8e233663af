import { statSync } from 'node:fs';
import { loadCodec, prepareCodec } from '../history/file/codec.js';
import { LogFile } from '../history/file/log-file.js';
import { Reading } from '../history/file/reading.js';
import type { Archive } from '../recall/index/documents.js';
import { Recall } from '../recall/recall.js';
import type { BookFiles } from './book.js';

/** Keeps a book open between searches. Nothing of it changes: a book is replaced as a whole. */
class KeptBook {
  readonly #book: BookFiles;
  #reading: Reading | null = null;

  constructor(book: BookFiles) {
    this.#book = book;
  }

  /** The book as it is now. Throws `Damaged` and system errors. */
  async reading(): Promise<Archive> {
    if (this.#reading === null || !this.#isCurrent(this.#reading)) {
      this.close();
      await prepareCodec();
      this.#reading = this.#opened();
    }
    const reading = this.#reading;
    return {
      log: reading.log,
      pieces: reading.pieces,
      restVersion: reading.restVersion,
      read: (piece) => reading.read(piece),
      json: (piece) => reading.json(piece),
      readAt: (piece, place) => reading.readAt(piece, place),
      readFrom: (piece, place) => reading.readFrom(piece, place),
      rest: () => reading.rest(),
      ifCurrent: async (work) => {
        if (!this.#isCurrent(reading)) return false;
        work();
        return true;
      },
      async recover(thrown) {
        throw thrown;
      },
      close: () => undefined,
    };
  }

  close(): void {
    this.#reading?.close();
    this.#reading = null;
  }

  #opened(): Reading {
    const file = LogFile.open(loadCodec(), this.#book.history, 'r');
    return Reading.of(file, file);
  }

  #isCurrent({ fileId }: Reading): boolean {
    const now = statSync(this.#book.history, { throwIfNoEntry: false });
    return now !== undefined && `${now.dev}:${now.ino}` === fileId;
  }
}

/** How the books are searched. */
export interface SearchUse {
  /** False if nothing may be written, not even an index. */
  readonly writes: boolean;
  /** Whether a search first indexes all that is missing, however long that takes. */
  readonly indexesAll?: boolean;
  onIndexed?(done: number, all: number): void;
}

/** The search over one book. Opens nothing before the first call. */
export function recallOf(book: BookFiles, use: SearchUse): Recall {
  const kept = new KeptBook(book);
  return new Recall({
    folder: book.index,
    book: book.name,
    history: { reading: () => kept.reading(), undisturbed: (work) => work(), close: () => kept.close() },
    ...use,
  });
}
