import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isMessage } from '../chat/entry.js';
import type { Message, NewMessage } from '../chat/message.js';
import { AsideFile, fileNamesIn, makeFolder, readRegularFile, removeEmptyFolder, removeLeftovers } from '../disk.js';
import { HiError } from '../errors.js';
import { hashOf } from '../history/attachments.js';
import { conversationPaths, type HistoryPaths } from '../history/base/history-paths.js';
import { loadCodec } from '../history/file/codec.js';
import { Damaged } from '../history/file/frames.js';
import { flattenEntries } from '../history/file/layout.js';
import { LogFile, newLogName } from '../history/file/log-file.js';
import { LogWriter } from '../history/file/whole-log.js';
import { runExclusive } from '../history/lock/exclusive.js';
import { pick } from '../registry.js';
import { consentOf, storeConsent } from './consent.js';

/** The files of a book: a history of its own, which no request contains, and its pictures and documents. */
export interface BookFiles extends Pick<HistoryPaths, 'history' | 'attachments'> {
  readonly folder: string;
  readonly name: string;
  /** The folder of its index, which is derived. */
  readonly index: string;
}

const EXTENSION = '.json.zst';

/** The files of the book with that name in the folder of all books. */
export function bookFiles(folder: string, name: string): BookFiles {
  const stem = join(folder, name);
  return {
    folder,
    name,
    history: conversationPaths(stem).history,
    attachments: `${stem}.attachments`,
    index: `${stem}.recall`,
  };
}

/** The names of the books in a folder. */
export function bookNames(folder: string): readonly string[] {
  return fileNamesIn(folder)
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => name.slice(0, -EXTENSION.length));
}

/** The files of a book that is there. Throws a `HiError` of code `usage` that names the nearest one. */
export function bookNamed(folder: string, name: string): BookFiles {
  const books = bookNames(folder).map((known) => ({ name: known }));
  return bookFiles(folder, pick(books, name, 'book', 'usage').name);
}

/**
 * The messages of a book, oldest first, read on demand; none if there is no book. Throws a `HiError` if it is damaged.
 * `prepareCodec` comes before.
 */
export function* messagesOf({ history, name }: BookFiles): Generator<Message> {
  if (!existsSync(history)) return;
  try {
    const file = LogFile.open(loadCodec(), history, 'r');
    try {
      for (const entry of flattenEntries(file.all())) if (isMessage(entry)) yield entry;
    } finally {
      file.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
    throw new HiError('history', `The book '${history}' is damaged.`, {
      hint: `Remove it with 'hi import --remove ${name}', and import its source again.`,
      cause: thrown,
    });
  }
}

/** The bytes of an attachment of a book; null if it is missing or altered. */
export function attachmentOf({ attachments }: BookFiles, sha256: string): Uint8Array | null {
  const path = join(attachments, sha256);
  const bytes = /^[0-9a-f]{64}$/.test(sha256) && existsSync(path) ? readRegularFile(path) : null;
  return bytes !== null && hashOf(bytes) === sha256 ? bytes : null;
}

/** A message before its book has given it an id. */
export type BookMessage = NewMessage & Pick<Message, 'at'>;

/**
 * Writes a book anew, in the place of the one that is there, which stays until `commit`. Only while no other process
 * writes books.
 */
export class BookWriter {
  readonly #aside: AsideFile;
  readonly #writer: LogWriter;
  #id = 0;
  #turn = 0;

  constructor({ folder, history }: BookFiles) {
    makeFolder(folder, 0o700);
    this.#aside = new AsideFile(history, { mode: 0o600 });
    this.#writer = new LogWriter(loadCodec(), this.#aside.descriptor, logOf(history));
  }

  /** Adds a message under the id that it has in the book. */
  keep(message: Message): void {
    this.#id = message.id;
    this.#writer.add(message);
  }

  /** Adds the messages of one conversation, with the next ids. */
  add(messages: readonly BookMessage[]): void {
    this.#turn = 0;
    for (const { at, ...rest } of messages) {
      const id = this.#id + 1;
      if (rest.role === 'user' || this.#turn === 0) this.#turn = id;
      this.keep({ id, turn: this.#turn, at, ...rest });
    }
  }

  commit(): void {
    // Else each search would read and index the end of the book again.
    this.#writer.seal();
    this.#writer.finish(null);
    this.#aside.commit(true);
  }

  discard(): void {
    this.#aside.discard();
  }
}

/** A later edition of a book is the same log, so that its index stays. */
function logOf(history: string): string {
  if (!existsSync(history)) return newLogName();
  const file = LogFile.open(loadCodec(), history, 'r');
  file.close();
  return file.log;
}

/** Runs `work` while no other process changes books. */
export async function exclusively<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  makeFolder(folder, 0o700);
  return await runExclusive(folder, 'import', work);
}

/** Removes a book and everything that belongs to it. */
export async function removeBook({ folder, name, history, attachments, index }: BookFiles): Promise<void> {
  await exclusively(folder, async () => {
    rmSync(history, { force: true });
    rmSync(index, { recursive: true, force: true });
    removeAttachments(attachments, new Set());
    if (consentOf(folder, name) !== null) storeConsent(folder, name, null);
  });
}

/** Removes the attachments whose hashes are not among these. */
export function removeAttachments(folder: string, kept: ReadonlySet<string>): void {
  for (const name of fileNamesIn(folder)) if (!kept.has(name)) rmSync(join(folder, name), { force: true });
  removeEmptyFolder(folder);
}

/** Removes what killed processes left of books that they were writing. Only while no other process writes books. */
export function removeUnfinished(folder: string): void {
  removeLeftovers(folder, /\.zst$|\.threads$/);
  for (const name of readdirSync(folder)) {
    const [, book] = /^(.+)\.attachments$/.exec(name) ?? [];
    if (book !== undefined && !existsSync(bookFiles(folder, book).history))
      removeAttachments(join(folder, name), new Set());
  }
}
