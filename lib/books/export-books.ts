import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Entry } from '../chat/entry.js';
import { HiError, systemCode, systemReason } from '../errors.js';
import { neutralise, neutraliseJson } from '../screen/text/neutralise.js';
import { attachmentOf, type BookFiles, messagesOf } from './book.js';
import type { ExportForm, Writing } from './export-forms.js';
import { type LeaveOut, type ReadAttachment, type SpokenThread, threadsOfBook, threadsOfHistory } from './spoken.js';

/** What is exported, and where to. */
export interface ExportOrder {
  readonly form: ExportForm;
  /** A folder that does not exist yet, or is empty. */
  readonly target: string;
  readonly archive: () => AsyncIterable<Entry>;
  readonly read: ReadAttachment;
  readonly books: readonly BookFiles[];
  readonly signal: AbortSignal;
}

/** What was written of the conversation, or of a book. */
export interface Exported {
  readonly name: string;
  threads: number;
  messages: number;
  /** What does not fit into the form, by kind. */
  readonly left_out: Record<string, number>;
}

/**
 * Writes the conversation and all books, each into a folder of its own below `target`, which is there only when all of
 * it is. Throws `HiError`s.
 */
export async function exportAll(order: ExportOrder): Promise<readonly Exported[]> {
  const { target, archive, read, books, signal } = order;
  const aside = `${target}.${process.pid}.new`;
  try {
    if (existsSync(target) && readdirSync(target).length > 0)
      throw new HiError('usage', `The folder '${target}' is not empty.`, { hint: 'Name one that does not exist yet.' });
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { mode: 0o700 });
    const outcomes = [
      await exportOne(order, aside, 'conversation', (leaveOut) => threadsOfHistory(archive, read, leaveOut)),
    ];
    for (const book of books) {
      const readOf: ReadAttachment = async (sha256) => attachmentOf(book, sha256);
      const threads = (leaveOut: LeaveOut) => threadsOfBook(book.name, () => messagesOf(book), readOf, leaveOut);
      outcomes.push(await exportOne(order, aside, book.name, threads));
    }
    signal.throwIfAborted();
    if (existsSync(target)) rmdirSync(target);
    renameSync(aside, target);
    return outcomes.filter(({ threads }) => threads > 0);
  } catch (thrown) {
    rmSync(aside, { recursive: true, force: true });
    if (systemCode(thrown) === null) throw thrown;
    const reason = existsSync(dirname(target))
      ? systemReason(thrown)
      : `The folder '${dirname(target)}' does not exist`;
    throw new HiError('usage', `Cannot write '${target}': ${reason}.`, {
      hint: 'Choose another folder.',
      cause: thrown,
    });
  }
}

async function exportOne(
  { form, signal }: ExportOrder,
  aside: string,
  name: string,
  threads: (leaveOut: LeaveOut) => AsyncIterable<SpokenThread> | Iterable<SpokenThread>,
): Promise<Exported> {
  const outcome: Exported = { name, threads: 0, messages: 0, left_out: {} };
  const { left_out: left } = outcome;
  const leaveOut: LeaveOut = (what, count = 1) => {
    if (count > 0) left[what] = (left[what] ?? 0) + count;
  };
  let folder: ExportFolder | null = null;
  try {
    for await (const thread of threads(leaveOut)) {
      folder ??= new ExportFolder(join(aside, name), form, leaveOut);
      await folder.add(thread);
      outcome.threads += 1;
      outcome.messages += thread.messages.length;
      await nextTurn();
      signal.throwIfAborted();
    }
    folder?.end();
  } finally {
    folder?.close();
  }
  return outcome;
}

/** The folder of the conversation or of a book while it is written. */
class ExportFolder {
  readonly #folder: string;
  readonly #form: ExportForm;
  readonly #writing: Writing;
  readonly #array: number | null;
  readonly #names = new Set<string>();
  #isFirst = true;

  constructor(folder: string, form: ExportForm, leaveOut: LeaveOut) {
    mkdirSync(folder, { mode: 0o700 });
    this.#folder = folder;
    this.#form = form;
    this.#array = form.array === null ? null : openSync(join(folder, form.array), 'wx', 0o600);
    this.#writing = {
      leaveOut,
      store: async (stem, file) => {
        const bytes = await file.read();
        const name = `${stem}${extname(file.name).replace(/[^.\w]+/g, '')}`;
        if (bytes === null) leaveOut('files that are lost');
        else writeFileSync(join(folder, name), bytes, { mode: 0o600 });
        return bytes === null ? null : name;
      },
    };
  }

  async add(thread: SpokenThread): Promise<void> {
    const elements = await this.#form.write(thread, this.#writing);
    const texts = elements.map((one) =>
      typeof one === 'string' ? neutralise(one) : neutraliseJson(JSON.stringify(one)),
    );
    if (this.#array === null) {
      const lines = texts.map((text, index) => (typeof elements[index] === 'string' ? text : `${text}\n`));
      writeFileSync(join(this.#folder, this.#freeName(thread)), lines.join(''), { mode: 0o600, flag: 'wx' });
    } else
      for (const text of texts) {
        writeSync(this.#array, `${this.#isFirst ? '[\n' : ',\n'}${text}`);
        this.#isFirst = false;
      }
  }

  end(): void {
    if (this.#array !== null) writeSync(this.#array, this.#isFirst ? '[]\n' : '\n]\n');
  }

  close(): void {
    if (this.#array !== null) closeSync(this.#array);
  }

  /** Of two names that differ in capitals only, a system may see one. */
  #freeName(thread: SpokenThread): string {
    const stem = this.#form.nameOf(thread);
    let name = stem;
    for (let number = 2; this.#names.has(name.toLowerCase()); number += 1) name = `${stem} (${number})`;
    this.#names.add(name.toLowerCase());
    return `${name}${this.#form.extension}`;
  }
}
