import { existsSync, rmSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Message, Part, ToolResultPart } from '../chat/message.js';
import { isAbort } from '../errors.js';
import { prepareCodec } from '../history/file/codec.js';
import { monotonic } from '../waits.js';
import { Attachments } from './attach.js';
import {
  type BookFiles,
  type BookMessage,
  BookWriter,
  bookFiles,
  exclusively,
  messagesOf,
  removeAttachments,
  removeUnfinished,
} from './book.js';
import {
  type ForeignMessage,
  type Reading,
  type Sample,
  type Source,
  type SourceFile,
  type Thread,
  Unreadable,
} from './common/book-source.js';
import type { Export } from './input/find-files.js';
import { sampleOf } from './input/objects.js';
import { type Identity, identityOf, KnownMessages, ownKey, spokenText, withIds } from './known.js';
import { recallOf } from './open-book.js';
import { sources } from './sources/index.js';
import { Spool } from './spool.js';

/** What is imported, and how. */
export interface ImportOrder {
  /** The folder of all books. */
  readonly folder: string;
  /** Only messages from then on; null for all. A message without a time counts as one of its conversation's last. */
  readonly since: Date | null;
  /** Whether messages that the source changed or no longer has follow it. */
  readonly mirror: boolean;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Told how much of the sources was read. */
  onProgress(what: string, done: number, all: number): void;
}

/** A place that could not be read. */
export interface Problem {
  readonly file: string;
  readonly place: string;
  readonly what: string;
}

/** The outcome for one source. */
export interface Imported {
  readonly name: string;
  readonly title: string;
  /** The conversations and messages that the source has, within the time that was asked for. */
  threads: number;
  messages: number;
  /** The messages that are new in the book. */
  added: number;
  /** The messages that were changed or removed: with `mirror`, or that were still being written the last time. */
  changed: number;
  removed: number;
  /** The times of the first and of the last message; empty if none has one. */
  from: string;
  until: string;
  /** What was not taken in, by kind. */
  readonly left_out: Record<string, number>;
  /** The first of the places that could not be read, and their number. */
  readonly problems: Problem[];
  unread: number;
}

/** How many unreadable places are named. */
const NAMED = 100;

/** The files of each source that has some among these. */
export interface FoundSource {
  readonly source: Source;
  readonly files: readonly (SourceFile & { readonly in: Export })[];
}

/**
 * Recognises the files by their content. Those that no source knows are left out; `skipped` gets those that cannot be
 * read.
 */
export async function recognise(
  exports: readonly Export[],
  { signal }: ImportOrder,
  skipped: (path: string, why: string) => void,
): Promise<readonly FoundSource[]> {
  const found = new Map(sources.map((source) => [source, [] as (SourceFile & { readonly in: Export })[]]));
  for (const one of exports) {
    for (const file of one.files) {
      signal.throwIfAborted();
      const sample = await sampled(file, skipped);
      const source = sample && sources.find((known) => known.recognises(sample));
      if (source) found.get(source)?.push({ ...file, in: one });
    }
  }
  return [...found].filter(([, files]) => files.length > 0).map(([source, files]) => ({ source, files }));
}

async function sampled(file: SourceFile, skipped: (path: string, why: string) => void): Promise<Sample | null> {
  try {
    return await sampleOf(file);
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    skipped(file.path, thrown.message);
    return null;
  }
}

/**
 * Takes the conversations of a source into its book. Nothing of the book changes before everything is read; a process
 * that is stopped leaves it as it was.
 */
export async function importSource(found: FoundSource, order: ImportOrder): Promise<Imported> {
  await prepareCodec();
  if (order.dryRun) return await new SourceImport(found, order).run();
  const outcome = await exclusively(order.folder, async () => {
    removeUnfinished(order.folder);
    return await new SourceImport(found, order).run();
  });
  await makeIndex(found.source, order);
  return outcome;
}

/** The longest time that an import spends on the index, in milliseconds: enough for some hundred thousand messages. */
const LONGEST_INDEXING = 20_000;

/**
 * Indexes and measures a book now, so that no question has to. If that is stopped, or takes too long, searches do the
 * rest.
 */
async function makeIndex({ name, title }: Source, { folder, signal, onProgress }: ImportOrder): Promise<void> {
  const book = bookFiles(folder, name);
  if (!existsSync(book.history)) return;
  const onIndexed = (done: number, all: number): void => onProgress(`Indexing ${title}`, done, all);
  const index = recallOf(book, { writes: true, onIndexed });
  try {
    const end = monotonic() + LONGEST_INDEXING;
    for await (const _ of index.indexAll(signal)) if (monotonic() > end) return;
    await index.join();
    await index.calibrate(Number.POSITIVE_INFINITY, signal);
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
  } finally {
    index.close();
  }
}

/** One import while it runs. */
class SourceImport {
  readonly #found: FoundSource;
  readonly #order: ImportOrder;
  readonly #book: BookFiles;
  readonly #outcome: Imported;
  readonly #known = new KnownMessages();
  /** With `mirror`: the messages of the book by their key, and what becomes of those that the source changed. */
  readonly #held = new Map<string, { readonly id: number; readonly text: string }>();
  readonly #changed = new Map<number, BookMessage>();
  /** The last message of each conversation in the book: it may have been imported while it was being written. */
  readonly #last = new Map<
    string,
    { readonly id: number; readonly key: string; readonly text: string; parts: number }
  >();
  readonly #seen = new Set<number>();
  /** A source may give a conversation in pieces. */
  readonly #threadIds = new Set<string>();
  #read = 0;

  constructor(found: FoundSource, order: ImportOrder) {
    const { name, title } = found.source;
    this.#found = found;
    this.#order = order;
    this.#book = bookFiles(order.folder, name);
    this.#outcome = {
      ...{ name, title, threads: 0, messages: 0, added: 0, changed: 0, removed: 0, from: '', until: '' },
      ...{ left_out: {}, problems: [], unread: 0 },
    };
  }

  async run(): Promise<Imported> {
    const hashes = this.#readBook();
    const spool = this.#order.dryRun ? null : new Spool(this.#book);
    const attachments = new Attachments(this.#book.attachments, this.#reading(null));
    if (!this.#order.dryRun) removeAttachments(this.#book.attachments, hashes);
    try {
      for await (const thread of this.#threads()) await this.#take(thread, spool, attachments);
      this.#outcome.removed = this.#order.mirror ? this.#held.size - this.#seen.size : 0;
      if (spool !== null && this.#outcome.added + this.#outcome.changed + this.#outcome.removed > 0)
        await this.#write(spool);
      return this.#outcome;
    } catch (thrown) {
      for (const path of attachments.added) rmSync(path, { force: true });
      throw thrown;
    } finally {
      spool?.discard();
    }
  }

  /** What the book has. Returns the hashes of its attachments. */
  #readBook(): ReadonlySet<string> {
    const hashes = new Set<string>();
    for (const { id, imported, content, at, role } of messagesOf(this.#book)) {
      for (const part of content) if (part.type === 'image' || part.type === 'document') hashes.add(part.sha256);
      if (imported === undefined) continue;
      const text = spokenText(role, content);
      const identity = { thread: imported.thread, id: imported.id, at, role, text };
      this.#known.add(identity);
      if (content.length > 0)
        this.#last.set(imported.thread, { id, key: ownKey(identity), text, parts: saidParts(content) });
      // What was forgotten stays so.
      if (this.#order.mirror && content.length > 0) this.#held.set(ownKey(identity), { id, text });
    }
    return hashes;
  }

  async *#threads(): AsyncGenerator<Thread> {
    const { source, files } = this.#found;
    const all = files.reduce((sum, { size }) => sum + size, 0);
    let before = 0;
    for (const file of files) {
      this.#read = before;
      const watched: SourceFile = { ...file, bytes: () => this.#watched(file, all) };
      for await (const thread of source.threads(watched, this.#reading(file.in))) {
        this.#order.signal.throwIfAborted();
        yield thread;
      }
      before += file.size;
    }
    this.#order.onProgress(`Reading ${source.title}`, all, all);
  }

  async *#watched(file: SourceFile, all: number): AsyncGenerator<Buffer> {
    for await (const piece of file.bytes()) {
      this.#order.signal.throwIfAborted();
      this.#read += piece.length;
      this.#order.onProgress(`Reading ${this.#found.source.title}`, this.#read, all);
      yield piece;
    }
  }

  #reading(one: Export | null): Reading {
    const { left_out, problems } = this.#outcome;
    return {
      beside: (prefix) => one?.beside(prefix) ?? null,
      nameOf: ({ path }) => (relative(one?.path ?? '', path) || basename(path)).replace(/\.\w+$/, ''),
      problem: ({ path }, place, what) => {
        this.#outcome.unread += 1;
        if (problems.length < NAMED) problems.push({ file: path, place, what });
      },
      leaveOut: (what, count = 1) => {
        if (count > 0) left_out[what] = (left_out[what] ?? 0) + count;
      },
    };
  }

  async #take({ messages: given, ...named }: Thread, spool: Spool | null, attachments: Attachments): Promise<void> {
    const fresh: BookMessage[] = [];
    const thread = { ...named, messages: withIds(given) };
    const messages = within(thread.messages, this.#order.since);
    if (messages.length > 0) this.#threadIds.add(thread.id);
    this.#outcome.threads = this.#threadIds.size;
    for (const message of messages) {
      const identity = identityOf(thread.id, message);
      this.#count(message);
      const held = this.#held.get(ownKey(identity));
      if (held !== undefined) this.#seen.add(held.id);
      const changed =
        held !== undefined && held.text !== identity.text ? held.id : this.#grown(thread.id, identity, message);
      if (changed !== null) {
        this.#outcome.changed += 1;
        if (spool !== null) this.#changed.set(changed, await asStored(thread, message, attachments));
      }
      if (!this.#known.add(identity)) continue;
      this.#outcome.added += 1;
      if (spool !== null) fresh.push(await asStored(thread, message, attachments));
    }
    if (fresh.length > 0) spool?.add(fresh);
  }

  /** The id of the message in the book that the source has gone on writing; null if it has not. */
  #grown(thread: string, identity: Identity, { content }: ForeignMessage): number | null {
    const last = this.#last.get(thread);
    if (identity.role === 'user' || last?.key !== ownKey(identity) || !identity.text.startsWith(last.text)) return null;
    return identity.text.length > last.text.length || saidParts(content) > last.parts ? last.id : null;
  }

  #count({ at }: ForeignMessage): void {
    const outcome = this.#outcome;
    outcome.messages += 1;
    if (at === '') return;
    if (outcome.from === '' || at < outcome.from) outcome.from = at;
    if (at > outcome.until) outcome.until = at;
  }

  async #write(spool: Spool): Promise<void> {
    const { mirror, signal, onProgress } = this.#order;
    const writer = new BookWriter(this.#book);
    try {
      for (const message of messagesOf(this.#book)) {
        const { id, imported, content } = message;
        const isGone = mirror && imported !== undefined && content.length > 0 && !this.#seen.has(id);
        if (!isGone) writer.keep(changedTo(message, this.#changed.get(message.id)));
      }
      let written = 0;
      for (const messages of spool.inOrder()) {
        writer.add(messages);
        written += 1;
        if (written % 100 !== 0) continue;
        onProgress(`Writing ${this.#found.source.title}`, written, spool.length);
        await nextTurn();
        signal.throwIfAborted();
      }
      writer.commit();
    } catch (thrown) {
      writer.discard();
      throw thrown;
    }
  }
}

/** The parts of a message that are no files: whether those are in the book depends on what they are. */
const saidParts = (content: ForeignMessage['content']): number =>
  content.filter(({ type }) => type !== 'attached' && type !== 'image' && type !== 'document').length;

const changedTo = ({ id, turn, ...message }: Message, change: BookMessage | undefined): Message => ({
  id,
  turn,
  ...(change ?? message),
});

/** The messages from then on. One without a time counts by the last of its conversation that has one. */
function within(messages: readonly ForeignMessage[], since: Date | null): readonly ForeignMessage[] {
  if (since === null) return messages;
  const from = since.toISOString();
  const last = messages.reduce((newest, { at }) => (at > newest ? at : newest), '');
  return messages.filter(({ at }) => (at === '' ? last : at) >= from);
}

async function asStored(thread: Thread, message: ForeignMessage, attachments: Attachments): Promise<BookMessage> {
  const content: Part[] = [];
  for (const part of message.content) {
    const stored = part.type === 'attached' ? await attachments.part(part) : shortened(part);
    if (stored !== null) content.push(stored);
  }
  const { id, ...rest } = message;
  const isFirst = thread.messages[0] === message && thread.title !== undefined;
  const imported = { thread: thread.id, id, ...(isFirst && { title: thread.title }) };
  return { cwd: '', ...rest, content, imported };
}

/** The longest output of a tool that is kept whole, in characters. Nobody said it, and a search reads its ends only. */
const LONGEST_OUTPUT = 16_000;

function shortened(part: Part): Part {
  if (part.type !== 'tool_result') return part;
  const text = part.error ?? part.result;
  if (typeof text !== 'string' || text.length <= LONGEST_OUTPUT) return part;
  const half = LONGEST_OUTPUT / 2;
  const kept = `${text.slice(0, half)}\n… (${text.length - LONGEST_OUTPUT} characters left out)\n${text.slice(-half)}`;
  const { call_id, name } = part;
  const base: Pick<ToolResultPart, 'type' | 'call_id' | 'name'> = { type: 'tool_result', call_id, name };
  return part.error === undefined ? { ...base, result: kept } : { ...base, error: kept };
}
