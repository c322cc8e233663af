import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bookFiles, messagesOf } from '../../lib/books/book.js';
import { type Imported, type ImportOrder, importSource, recognise } from '../../lib/books/import-books.js';
import { findFiles } from '../../lib/books/input/find-files.js';
import type { Message } from '../../lib/chat/message.js';
import { textOf } from '../../lib/chat/message.js';

/** A folder for books and exports. */
export class Shelf {
  readonly folder = mkdtempSync(join(tmpdir(), 'hi-books-'));
  readonly books = join(this.folder, 'imports');
  /** What was not read, and why. */
  readonly skipped: string[] = [];

  /** Imports what is at a path below the folder. */
  async import(name: string, order: Partial<ImportOrder> = {}): Promise<readonly Imported[]> {
    const skip = (path: string, why: string): void => void this.skipped.push(`${path}: ${why}`);
    const found = await findFiles(join(this.folder, name), skip);
    const whole: ImportOrder = {
      ...{ folder: this.books, since: null, mirror: false, dryRun: false },
      ...{ signal: new AbortController().signal, onProgress: () => undefined },
      ...order,
    };
    const outcomes: Imported[] = [];
    for (const one of await recognise([found], whole, skip)) outcomes.push(await importSource(one, whole));
    found.close();
    return outcomes;
  }

  /** The messages of a book. */
  messages(name: string): readonly Message[] {
    return [...messagesOf(bookFiles(this.books, name))];
  }

  /** The same, one line each: who said what. */
  lines(name: string): readonly string[] {
    return this.messages(name).map(({ role, content }) => `${role}: ${textOf(content)}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
