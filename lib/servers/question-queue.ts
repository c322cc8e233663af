import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseObject } from '../chat/json.js';
import { makeFolder, namesWithLeftovers, readRegularFile, writeAside } from '../disk.js';
import { HiError, systemCode } from '../errors.js';

/** What the user asked while no server could answer. */
export interface Question {
  readonly text: string;
  readonly texts: readonly string[];
  readonly attachments: readonly {
    readonly kind: 'image' | 'document';
    readonly mime: string;
    readonly bytes: Uint8Array;
    readonly name: string;
  }[];
}

/** A question in the queue. */
export interface QueuedQuestion {
  readonly id: string;
  /** When it was asked. */
  readonly at: Date;
  readonly question: Question;
  /**
   * Whether a process began to send it and ended before it knew the answer: it may be in the conversation, so it is not
   * sent again.
   */
  readonly isUnclear: boolean;
}

/**
 * The questions that are to be asked later, each a file of its own in one folder, in the order in which they were
 * asked. Who renames the file of a question sends it, so that no question is sent twice.
 */
export class QuestionQueue {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps a question, on disk when it returns. Throws a `HiError` of code `history` that names the folder. */
  add({ text, texts, attachments }: Question, now: Date): void {
    const kept = attachments.map(({ bytes, ...file }) => ({ ...file, bytes: Buffer.from(bytes).toString('base64') }));
    const id = `${String(now.getTime()).padStart(14, '0')}-${process.pid}-${this.#ids().length}`;
    try {
      makeFolder(this.#folder, 0o700);
      const content = JSON.stringify({ at: now.toISOString(), text, texts, attachments: kept });
      writeAside(join(this.#folder, id + WAITING), content, { mode: 0o600, private: true, synced: true });
    } catch (cause) {
      throw new HiError('history', `Cannot keep the question in '${this.#folder}': ${systemCode(cause) ?? cause}.`, {
        cause,
      });
    }
  }

  get isEmpty(): boolean {
    return filesIn(this.#folder).length === 0;
  }

  /** All questions, oldest first. */
  list(): readonly QueuedQuestion[] {
    return this.#ids().flatMap(({ id, file, isUnclear }) => {
      const found = readQuestion(join(this.#folder, file));
      return found === null ? [] : [{ id, ...found, isUnclear }];
    });
  }

  /** Whether another process sends one. The later ones wait, so that all are answered in order. */
  get isBusy(): boolean {
    return filesIn(this.#folder).some((file) => {
      const { sender } = sendingIn(file) ?? {};
      return sender !== undefined && sender !== process.pid && isAlive(sender);
    });
  }

  /** Takes a question to send it. Returns false if another process has it, or sends another one. */
  take(id: string): boolean {
    return !this.isBusy && this.#rename(id + WAITING, `${id}.${process.pid}${SENDING}`);
  }

  /** Puts a question back that could not be sent. */
  putBack(id: string): void {
    this.#rename(`${id}.${process.pid}${SENDING}`, id + WAITING);
  }

  /** Removes a question, whether it waits or was taken by this process or one that has ended. */
  remove(id: string): void {
    for (const { file } of this.#ids().filter((one) => one.id === id))
      rmSync(join(this.#folder, file), { force: true });
    rmSync(join(this.#folder, `${id}.${process.pid}${SENDING}`), { force: true });
  }

  #rename(from: string, to: string): boolean {
    try {
      renameSync(join(this.#folder, from), join(this.#folder, to));
      return true;
    } catch (thrown) {
      if (systemCode(thrown) === 'ENOENT') return false;
      throw thrown;
    }
  }

  /** Those that no running process sends. */
  #ids(): readonly QueueFile[] {
    return filesIn(this.#folder).flatMap((file): QueueFile[] => {
      if (file.endsWith(WAITING)) return [{ id: file.slice(0, -WAITING.length), file, isUnclear: false }];
      const sending = sendingIn(file);
      return sending === null || isAlive(sending.sender) ? [] : [{ id: sending.id, file, isUnclear: true }];
    });
  }
}

interface QueueFile {
  readonly id: string;
  readonly file: string;
  readonly isUnclear: boolean;
}

/** The names of the files of questions, and of what a kill leaves of them. */
export const QUESTIONS = namesWithLeftovers(String.raw`\d+-\d+-\d+\.(?:json|\d+\.sending)`);

/** When the question in a file of that name was asked, in milliseconds. */
export const askedAt = (name: string): number => Number.parseInt(name, 10);

const WAITING = '.json';
const SENDING = '.sending';

/** The question and the process of a file that is being sent. */
function sendingIn(file: string): { readonly id: string; readonly sender: number } | null {
  const [, id, sender] = /^(.+)\.(\d+)\.sending$/.exec(file) ?? [];
  return id === undefined ? null : { id, sender: Number(sender) };
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return systemCode(thrown) === 'EPERM';
  }
}

/** The question in a file; null if there is none. */
export function readQuestion(path: string): Pick<QueuedQuestion, 'at' | 'question'> | null {
  let stored: ReturnType<typeof parseObject>;
  try {
    stored = parseObject(readRegularFile(path).toString());
  } catch {
    return null;
  }
  const { at, text, texts, attachments } = stored ?? {};
  if (typeof at !== 'string' || typeof text !== 'string' || !Array.isArray(texts) || !Array.isArray(attachments))
    return null;
  const files = attachments.filter(isJsonObject).map(({ kind, mime, bytes, name }) => ({
    kind: kind === 'image' ? ('image' as const) : ('document' as const),
    mime: String(mime),
    bytes: Buffer.from(String(bytes), 'base64'),
    name: String(name),
  }));
  return { at: new Date(at), question: { text, texts: texts.map(String), attachments: files } };
}
