import { closeSync, existsSync, fstatSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Entry } from '../../chat/entry.js';
import { fileNamesIn, followLinks, requireRegularFile, writeAside } from '../../disk.js';
import { HiError } from '../../errors.js';
import { conversationPaths, DAMAGED_SUFFIX, type HistoryPaths, isConflictCopy } from '../base/history-paths.js';
import { watched } from '../base/notices.js';
import { bufferedReader, type Codec, decompressFrame, fileSize, readAt, syncDataAsync } from './codec.js';
import { entriesIn, frameContent, ID_LIMIT, lastMessages, messagesIn } from './entries.js';
import { DATA_MAGIC, Damaged, frameAt, type ReadBytes } from './frames.js';
import { type Facts, OPENING, withEntry } from './layout.js';
import {
  appendFrame,
  type FrameSource,
  type FrameStart,
  findTail,
  isSealDue,
  isStillTail,
  isUnsealed,
  neededFrom,
  rowsBefore,
  seal,
  type Tail,
} from './tail.js';

/** The open history file in hi's layout: its tail, the totals, reading and appending. */
export class LogFile {
  readonly #codec: Codec;
  readonly #file: number;
  /** Identifies the file on its disk. */
  readonly fileId: string;
  readonly writable: boolean;
  /** The sealed frames from the first one that the view needs. */
  #frameStarts: FrameStart[] = [];
  #tail: Tail;
  /** The last bytes before the end of the array: the checksum of the newest frame. */
  #lastBytes: Buffer;
  #newest: Entry | null = null;
  #facts: Facts;

  private constructor(codec: Codec, file: number, writable: boolean) {
    this.#codec = codec;
    this.#file = file;
    this.writable = writable;
    const { dev, ino, size } = fstatSync(file);
    this.fileId = `${dev}:${ino}`;
    this.#tail = findTail(codec, bufferedReader(file, 64 * 1024), size);
    this.#facts = this.#tail.record.facts;
    this.#lastBytes = this.#bytesBefore(this.#tail.closing);
  }

  /** Opens the file at `path`, read-only with `flags` 'r'. Throws system errors and `Damaged`. */
  static open(codec: Codec, path: string, flags: 'r' | 'r+'): LogFile {
    requireRegularFile(path);
    const file = openSync(path, flags);
    try {
      return new LogFile(codec, file, flags === 'r+');
    } catch (thrown) {
      closeSync(file);
      throw thrown;
    }
  }

  /** Opens the file at `path`, this one or its replacement, again for reading. */
  reopen(codec: Codec, path: string): LogFile {
    return LogFile.open(codec, path, 'r');
  }

  /** The name of the log, which does not depend on the file. */
  get log(): string {
    return this.#tail.record.log;
  }

  /** The facts of all entries that were loaded or appended here. */
  get facts(): Facts {
    return this.#facts;
  }

  /** All entries from the first one that the view needs. Throws `Damaged`. */
  load(): readonly Entry[] {
    const { record, recordStart, closing } = this.#tail;
    this.#facts = record.facts;
    const starts: FrameStart[] = [];
    const entries = this.#entriesBetween(record.needed ?? recordStart, closing, (start) => starts.push(start));
    this.#frameStarts = [];
    this.#rememberStarts(starts);
    this.#count(entries);
    if (this.#facts.last >= ID_LIMIT) throw new Damaged(`No ids are left after ${this.#facts.last}.`);
    return entries;
  }

  /**
   * Every entry of the log at the time of the call, oldest first, frame by frame. `what` names the operation in
   * progress reports. Throws `Damaged`.
   */
  *all(what = 'Reading the history'): Generator<readonly Entry[]> {
    const { mutableStart, closing } = this.#tail;
    // Sealed frames never change in this file; the rest is read at once.
    const newest = this.#entriesBetween(mutableStart, closing);
    yield* watched(what, this.#frames(OPENING.length, mutableStart), this.#facts.last);
    yield newest;
  }

  /**
   * The newest `count` messages and the entries between them, oldest first. Reads the end of the file only. Throws
   * `Damaged`.
   */
  newest(count: number): readonly Entry[] {
    const found: (readonly Entry[])[] = [];
    let messages = 0;
    for (const entries of this.#backwards()) {
      messages += messagesIn(entries);
      found.push(entries);
      if (messages >= count) break;
    }
    return lastMessages(found.reverse().flat(), count);
  }

  /**
   * The entries from one id on up to another, which are not loaded. Reads the end of the file only. Throws `Damaged`.
   */
  between(from: number, before: number): readonly Entry[] {
    const starts: FrameStart[] = [];
    const found: (readonly Entry[])[] = [];
    for (const entries of this.#backwards((start) => starts.push(start))) {
      found.push(entries);
      if (entries[0] !== undefined && entries[0].id <= from) break;
    }
    const all = new Map([...starts, ...this.#frameStarts].map((start) => [start.offset, start]));
    this.#frameStarts = [...all.values()]
      .filter(({ offset }) => offset < this.#tail.mutableStart)
      .sort((one, other) => one.offset - other.offset);
    return found.reverse().flatMap((entries) => entries.filter(({ id }) => id >= from && id < before));
  }

  /** Gives access to single frames of this file. */
  get source(): FrameSource {
    return { codec: this.#codec, file: this.#file, tail: this.#tail };
  }

  /** Changes whenever the entries that are not permanently sealed change. */
  get unsealedVersion(): string {
    const { mutableStart, closing } = this.#tail;
    return `${this.fileId}:${mutableStart}:${closing}:${this.#lastBytes.toString('hex')}`;
  }

  /**
   * The entries that were not permanently sealed when this file was last read. Throws `Damaged`, also if another
   * process has sealed some since then.
   */
  unsealed(): readonly Entry[] {
    const entries = this.#entriesBetween(this.#tail.mutableStart, this.#tail.closing);
    if (!isUnsealed(this.#tail, this.#file, this.#lastBytes)) throw new Damaged('Another process seals the end.');
    return entries;
  }

  /**
   * The entries that other processes appended since the last read. Throws `Damaged`, also if this is now another log or
   * an older copy of this one.
   */
  readNew(): readonly Entry[] {
    const old = this.#tail;
    if (isStillTail(old, this.#file, this.#lastBytes)) return [];
    const tail = findTail(this.#codec, bufferedReader(this.#file, 64 * 1024), fileSize(this.#file));
    const starts: FrameStart[] = [];
    const sealed =
      tail.mutableStart !== old.mutableStart ||
      !tail.startBytes.equals(old.startBytes) ||
      !tail.recordBytes.equals(old.recordBytes);
    const entries = this.#entriesBetween(sealed ? old.foundFrom : old.closing, tail.closing, (start) =>
      starts.push(start),
    );
    const last = Math.max(this.#facts.last, entries.at(-1)?.id ?? 0);
    if (tail.record.facts.last > last)
      throw new Damaged(`The record counts entry ${tail.record.facts.last}, which is missing.`);
    const isContinued = sealed
      ? this.#isContinuedBy(tail, entries)
      : this.#bytesBefore(old.closing).equals(this.#lastBytes);
    if (tail.record.log !== this.log || !isContinued) throw new Damaged('Another file was copied over this one.');
    // Updated last, so that a failed read is repeated next time.
    this.#tail = tail;
    this.#lastBytes = this.#bytesBefore(tail.closing);
    this.#rememberStarts(starts);
    const fresh = entries.filter(({ id }) => id > this.#facts.last);
    this.#count(fresh);
    return fresh;
  }

  /**
   * Appends the entries in one frame. They are on disk once `sync` has resolved. Only under the lock, after `readNew`.
   */
  append(entries: readonly Entry[]): void {
    this.#tail = appendFrame(this.#codec, this.#file, this.#tail, frameContent(entries, this.#facts.entries === 0));
    this.#lastBytes = this.#bytesBefore(this.#tail.closing);
    this.#count(entries);
  }

  /** Resolves when everything written so far is on disk. */
  async sync(): Promise<void> {
    await syncDataAsync(this.#file);
  }

  get isSealDue(): boolean {
    return isSealDue(this.#tail);
  }

  /**
   * Seals what was appended and returns the number of permanently sealed frames. `needed` is the first id that the view
   * needs, or null. Only under the lock.
   */
  seal(needed: number | null): number {
    const { log, facts } = this;
    const known = this.#frameStarts;
    const { tail, starts } = seal(this.#codec, this.#file, this.#tail, (made, open) => ({
      log,
      facts,
      needed: neededFrom([...known, ...made], open, needed),
    }));
    this.#tail = tail;
    this.#lastBytes = this.#bytesBefore(tail.closing);
    this.#frameStarts = [...known, ...starts];
    return starts.length;
  }

  close(): void {
    closeSync(this.#file);
  }

  /**
   * True if the entries that a seal moved begin with the known ones, so that this is not an older copy or a fork of the
   * log.
   */
  #isContinuedBy({ record }: Tail, entries: readonly Entry[]): boolean {
    const last = Math.max(record.facts.last, entries.at(-1)?.id ?? 0);
    const known = this.#newest;
    const found = known && entries.find(({ id }) => id === known.id);
    return last >= this.#facts.last && (!found || JSON.stringify(found) === JSON.stringify(known));
  }

  /** All entries, newest first: the unsealed ones, then frame by frame. */
  *#backwards(found?: (start: FrameStart) => void): Generator<readonly Entry[]> {
    const { mutableStart, closing, size } = this.#tail;
    const rows = rowsBefore(bufferedReader(this.#file), size, mutableStart);
    yield this.#entriesBetween(mutableStart, closing);
    let end = mutableStart;
    for (const row of [...rows].reverse()) {
      end -= row.size;
      yield this.#entriesBetween(end, end + row.size, found);
    }
  }

  #bytesBefore(closing: number): Buffer {
    return readAt(this.#file, closing - 8, 8);
  }

  #entriesBetween(from: number, to: number, found?: (start: FrameStart) => void): readonly Entry[] {
    return [...this.#frames(from, to, found)].flat();
  }

  #frames(from: number, to: number, found?: (start: FrameStart) => void): Generator<readonly Entry[]> {
    return framesBetween(this.#codec, bufferedReader(this.#file, 64 * 1024), { from, to }, found);
  }

  /** Remembers the positions of the frames that no longer move. */
  #rememberStarts(starts: readonly FrameStart[]): void {
    const last = this.#frameStarts.at(-1)?.offset ?? 0;
    for (const start of starts)
      if (start.offset > last && start.offset < this.#tail.mutableStart) this.#frameStarts.push(start);
  }

  /** Counts each entry once in the totals. Throws `Damaged` when their ids do not ascend. */
  #count(entries: readonly Entry[]): void {
    let last = 0;
    for (const entry of entries) {
      if (entry.id <= last) throw new Damaged(`Entry ${entry.id} follows entry ${last}.`);
      last = entry.id;
      this.#newest = entry;
      if (entry.id > this.#facts.last) this.#facts = withEntry(this.#facts, entry);
    }
  }
}

/** The entries of each frame between two offsets, in order; calls `found` with the offset of each. Throws `Damaged`. */
function* framesBetween(
  codec: Codec,
  read: ReadBytes,
  { from, to }: { readonly from: number; readonly to: number },
  found?: (start: FrameStart) => void,
): Generator<readonly Entry[]> {
  for (let at = from; at < to; ) {
    const frame = frameAt(read, at, to);
    if (frame === null) throw new Damaged(`No whole frame begins at byte ${at}.`);
    at += frame.size;
    if (frame.kind === 'skip' || frame.content <= 1) continue;
    const entries = entriesIn(decompressFrame(codec, read, frame));
    found?.({ offset: frame.offset, id: entries[0]?.id ?? 0 });
    yield entries;
  }
}

/**
 * The paths of the conversation with links resolved. If the history is a link, the files of a reset, a repair or a
 * rewrite are next to its target and named after it, so that a rename never crosses file systems and never replaces the
 * link. Throws a `HiError` for a dangling link, unless a reset moved the target: its disk is probably not mounted, and
 * starting a new conversation would lead to two.
 */
export function resolveLinks(paths: HistoryPaths): HistoryPaths {
  const target = followLinks(paths.history);
  if (target === paths.history) return paths;
  const real = { ...conversationPaths(target.replace(/(?:\.json)?(?:\.zst)?$/, '')), history: target };
  if (!existsSync(target) && !existsSync(real.resetCopy)) throw danglingLink(paths.history, target);
  return { ...paths, ...real };
}

/** The folder of the conversation and its copies; for paths from `resolveLinks`. */
export function historyFolder(paths: HistoryPaths): string {
  return dirname(paths.history);
}

/**
 * The kept damaged files: next to the conversation, and in the data folder, from before the conversation became a
 * link.
 */
export function damagedCopies(paths: HistoryPaths): readonly string[] {
  const prefixes = new Set([paths.damagedPrefix, resolveLinks(paths).damagedPrefix]);
  return [...prefixes].flatMap((path) => {
    const prefix = basename(path);
    const isDamaged = (name: string): boolean =>
      name.startsWith(prefix) && DAMAGED_SUFFIX.test(name.slice(prefix.length));
    // `join` would resolve the `..` of a link, which is wrong after another link.
    return fileNamesIn(dirname(path))
      .filter(isDamaged)
      .map((name) => path + name.slice(prefix.length));
  });
}

/** The copies that a program left beside the conversation because it was changed on two machines. */
export function conflictCopies(paths: HistoryPaths): readonly string[] {
  const { history } = resolveLinks(paths);
  const stem = basename(history).replace(/(?:\.json)?(?:\.zst)?$/, '');
  return fileNamesIn(dirname(history))
    .filter((name) => name.startsWith(stem) && name.includes('.zst') && isConflictCopy(name))
    .map((name) => history.slice(0, -basename(history).length) + name);
}

/** The files of the conversation and its copies. */
export function conversationFiles(paths: HistoryPaths): readonly string[] {
  if (!existsSync(paths.folder)) return [];
  const { history, resetCopy, swap } = resolveLinks(paths);
  return [history, resetCopy, swap]
    .filter((path) => existsSync(path))
    .concat(damagedCopies(paths), conflictCopies(paths));
}

/** Throws a `HiError` when the attachments folder is a dangling link. */
export function requireAttachmentsFolder({ attachments }: HistoryPaths): void {
  const target = followLinks(attachments);
  if (target !== attachments && !existsSync(target)) throw danglingLink(attachments, target);
}

/**
 * Removes the conversation. The target of a link becomes an empty file, because hi refuses a dangling link. `real` is
 * the result of `resolveLinks`.
 */
export function removeConversation(paths: HistoryPaths, real: HistoryPaths): void {
  if (real.history === paths.history) rmSync(real.history, { force: true });
  else writeAside(real.history, EMPTY, { mode: 0o600, synced: true });
}

/** A zstd frame that holds `[]`: one segment of two bytes, in one raw block, which is the last. */
const EMPTY = Buffer.from([...magic(), 0x20, 0x02, 0x11, 0x00, 0x00, 0x5b, 0x5d]);

function magic(): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(DATA_MAGIC);
  return bytes;
}

function danglingLink(path: string, target: string): HiError {
  return new HiError('history', `'${path}' is a link to '${target}', which does not exist.`, {
    hint: 'Mount or restore the target. To start a new conversation without it, remove the link.',
  });
}

/** Identifies the history file on its disk, null when there is none. Throws a `HiError` for a dangling link. */
export function fileIdAt(paths: HistoryPaths): string | null {
  const found = statSync(paths.history, { throwIfNoEntry: false });
  if (found) return `${found.dev}:${found.ino}`;
  resolveLinks(paths);
  return null;
}

/** A unique name for a conversation. */
export function newLogName(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
}
