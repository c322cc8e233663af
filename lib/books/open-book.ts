import { statSync } from 'node:fs';
import { loadCodec, prepareCodec } from '../history/file/codec.js';
import { LogFile } from '../history/file/log-file.js';
import { Reading } from '../history/file/reading.js';
import type { Archive } from '../recall/index/documents.js';
import { Recall } from '../recall/recall.js';
import type { BookFiles } from './book.js';

/** A book as it is at one moment, for searches. Throws `Damaged` and system errors. */
async function openBook({ history }: BookFiles): Promise<Archive> {
  await prepareCodec();
  const codec = loadCodec();
  const file = LogFile.open(codec, history, 'r');
  try {
    const reading = Reading.of(file, file.reopen(codec, history));
    return Object.assign(reading, {
      // Books are replaced as a whole.
      async ifCurrent(work: () => void) {
        const now = statSync(history, { throwIfNoEntry: false });
        if (now === undefined || `${now.dev}:${now.ino}` !== reading.fileId) return false;
        work();
        return true;
      },
      async recover(thrown: unknown): Promise<void> {
        throw thrown;
      },
    });
  } finally {
    file.close();
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
  return new Recall({
    folder: book.index,
    history: { reading: () => openBook(book), undisturbed: (work) => work() },
    ...use,
  });
}
