import { existsSync } from 'node:fs';
import type { Entry } from '../chat/entry.js';
import { makeFolder } from '../disk.js';
import { HiError, systemCode } from '../errors.js';
import type { HistoryPaths } from './base/history-paths.js';
import { asHistoryError, type Notices, withHistoryErrors } from './base/notices.js';
import { type Codec, loadCodec } from './file/codec.js';
import { Damaged } from './file/frames.js';
import { changedEntries, flattenEntries } from './file/layout.js';
import { conflictCopies, fileIdAt, LogFile, newLogName, resolveLinks } from './file/log-file.js';
import type { Reading } from './file/reading.js';
import { assertLockHeld } from './lock/holder.js';
import { withLock } from './lock/lock.js';
import { ArrayFile, isIntact, type Opened, openDamaged, openLog, readLog } from './repair/open-log.js';
import { convert, editNotice, fenceOff, repair, replaceHistory } from './repair/repair.js';
import { loadedSalvage, loadSalvage, withSalvage } from './repair/salvage-loader.js';

/**
 * The result of a refresh: the added entries, or all of them, if the file was replaced or removed, or `again`, if the
 * same file was only opened again.
 */
export interface HistoryChange {
  readonly kind: 'all' | 'again' | 'added';
  readonly entries: readonly Entry[];
}

/**
 * The number of times that a file that looks damaged is read without the lock, because another process may be writing.
 */
const UNLOCKED_TRIES = 3;

/** The current history file: opened on first use, reopened when it is replaced, repaired when it is damaged. */
export class HistoryFile {
  /** Receives the notices about repairs. */
  readonly #notices: Notices;
  readonly #paths: HistoryPaths;
  readonly #now: () => Date;
  /** False if nothing may be written, not even a repaired file. */
  readonly #isKept: boolean;
  #codec: Codec | null = null;
  #file: LogFile | ArrayFile | null = null;
  /** Whether nothing was read, or what was read is known to be gone. */
  #isEmpty = true;

  constructor(paths: HistoryPaths, now: () => Date, isKept: boolean, notices: Notices) {
    this.#notices = notices;
    this.#paths = paths;
    this.#now = now;
    this.#isKept = isKept;
  }

  get file(): LogFile | ArrayFile | null {
    return this.#file;
  }

  /**
   * The changes by other processes since the last refresh. Repairs a damaged file or, if it cannot write, reads as much
   * as possible. Throws a `HiError`.
   */
  async refresh(): Promise<HistoryChange> {
    return await this.guarded(async () => {
      if (this.#file === null && fileIdAt(this.#paths) === null) return this.#noFile();
      const codec = this.codec;
      for (let tries = 1; ; tries += 1) {
        try {
          return this.#sync(codec, false);
        } catch (thrown) {
          if (!(thrown instanceof Damaged)) throw thrown;
          if (tries === UNLOCKED_TRIES) return await this.#repairOrReadOnly(codec, () => this.#syncOrRepair(codec));
        }
      }
    });
  }

  /**
   * Runs `work` under the lock with the changes of other processes, after repairing a damaged file. Repeats it if the
   * lock was lost, since the writes of `work` may then be missing. `signal` ends the wait for another process. Throws a
   * `HiError`.
   */
  async withLock<Result>(work: (codec: Codec, change: HistoryChange) => Result, signal?: AbortSignal): Promise<Result> {
    return await this.guarded(async () => {
      const codec = this.codec;
      if (this.#file === null) makeFolder(this.#paths.folder, 0o700);
      const locked = (): Result => {
        const change = this.#syncOrRepair(codec);
        assertLockHeld();
        return work(codec, change);
      };
      return await this.#underLock('whole', locked, signal);
    });
  }

  /** Runs `work` once under the lock, whatever the state of the file. Throws a `HiError`. */
  async exclusively(work: () => void): Promise<void> {
    await this.guarded(async () => {
      if (existsSync(this.#paths.folder)) await this.#underLock('once', work);
      else work();
    });
  }

  /** Appends entries. Creates a missing file, and converts one of another layout. Only inside `withLock`. */
  append(codec: Codec, entries: readonly Entry[]): void {
    if (this.#file instanceof LogFile) this.#file.append(entries);
    else if (this.#file instanceof ArrayFile) this.#convert(codec, this.#file, entries);
    else {
      replaceHistory(codec, this.#paths, newLogName(), entries);
      this.#sync(codec, true);
    }
  }

  /** Whether the file has entries in another layout, which can only be read as a whole. */
  get isForeign(): boolean {
    return this.#file instanceof ArrayFile && this.#file.facts.entries > 0;
  }

  /** Converts such a file to hi's layout; null if it is none. Only inside `withLock`. */
  convert(codec: Codec): HistoryChange | null {
    return this.isForeign && this.#file instanceof ArrayFile ? this.#convert(codec, this.#file, []) : null;
  }

  #convert(codec: Codec, file: ArrayFile, more: readonly Entry[]): HistoryChange {
    const notice = convert(codec, this.#paths, newLogName(), file, more, this.#now());
    if (notice !== null) this.#notices.add(notice);
    return this.#sync(codec, true);
  }

  /**
   * Rewrites the file with the result of `change` for each entry, and `more` behind them; null drops it. Only inside
   * `withLock`. Throws `Damaged`.
   */
  rewrite(codec: Codec, change: (entry: Entry) => Entry | null, more: Iterable<Entry> = []): HistoryChange {
    const file = this.#file;
    const kept = file?.all('Rewriting the history') ?? [];
    const entries = withMore(changedEntries(flattenEntries(kept), change), more);
    replaceHistory(codec, this.#paths, file instanceof LogFile ? file.log : newLogName(), entries);
    return this.#sync(codec, true);
  }

  /**
   * The entries from one id on up to another, of a file in hi's layout; none if they cannot be read. Throws system
   * errors.
   */
  between(from: number, before: number): readonly Entry[] {
    const file = this.#file;
    if (!(file instanceof LogFile)) return [];
    return attempted(() => file.between(from, before)) ?? this.#betweenAgain(file, from, before);
  }

  /** The same from fresh openings: another process may be sealing them. */
  #betweenAgain(file: LogFile, from: number, before: number): readonly Entry[] {
    for (let tries = 0; tries < UNLOCKED_TRIES; tries += 1) {
      const again = attempted(() => file.reopen(this.codec, this.#paths.history));
      const found = again && attempted(() => again.between(from, before));
      again?.close();
      if (found) return found;
    }
    return [];
  }

  /** The entries of this conversation and of the copy from the last reset. Only inside `withLock`. */
  allLogs(): readonly Iterable<Entry>[] {
    const { resetCopy, swap } = resolveLinks(this.#paths);
    const copies = [resetCopy, swap, ...conflictCopies(this.#paths)];
    return [flattenEntries(this.#file?.all() ?? []), ...copies.map(readLog)];
  }

  /** All entries on disk at the time of the call, oldest first, frame by frame. Throws `Damaged` and a `HiError`. */
  async *groups(): AsyncGenerator<readonly Entry[]> {
    if (this.#file === null) return;
    const codec = this.codec;
    const reading = await this.guarded(async () => this.#file?.reopen(codec, this.#paths.history));
    if (reading === undefined) return;
    try {
      yield* reading.all();
    } finally {
      reading.close();
    }
  }

  /** Opens the file for random access; null if there is no file in hi's layout. Throws `Damaged` and a `HiError`. */
  async reading(): Promise<Reading | null> {
    const file = this.#file;
    if (!(file instanceof LogFile)) return null;
    const { Reading } = await import('./file/reading.js');
    return await this.guarded(async () => Reading.of(file, file.reopen(this.codec, this.#paths.history)));
  }

  /**
   * Repairs the file and reads it again if anything in it is damaged: what looks so without the lock may be a write of
   * another process.
   */
  async repair(): Promise<HistoryChange> {
    const codec = this.codec;
    return await this.#repairOrReadOnly(codec, () => {
      return isIntact(codec, this.#paths.history) ? this.#sync(codec, true) : this.#repair(codec);
    });
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /** Loaded on first use: an empty conversation needs none. */
  get codec(): Codec {
    this.#codec ??= loadCodec();
    return this.#codec;
  }

  /**
   * Turns system errors into a `HiError`. Runs `work` again after damage, which it reports before it changes anything.
   */
  async guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    return await withHistoryErrors(this.#paths.history, () => withSalvage(work));
  }

  async #underLock<Result>(until: 'once' | 'whole', work: () => Result, signal?: AbortSignal): Promise<Result> {
    return await withLock(this.#paths.folder, until, () => fenceOff(this.codec, this.#paths), work, signal);
  }

  /**
   * Reads the changes, or opens the file. `exclusive`: under the lock, so that no other process is writing. Throws
   * `Damaged`.
   */
  #sync(codec: Codec, exclusive: boolean): HistoryChange {
    const node = fileIdAt(this.#paths);
    if (node === null) return this.#noFile();
    const file = this.#file;
    // Under the lock a file that was opened for reading may be repaired, or opened for writing.
    const mayUpgrade = exclusive && (file instanceof ArrayFile ? file.isDamaged : file?.writable === false);
    const isSame = file?.fileId === node;
    const news = isSame && !mayUpgrade ? this.#newEntries() : null;
    if (news) return { kind: 'added', entries: news };
    try {
      const opened = openLog(codec, this.#paths.history, exclusive);
      // While the old file is open, no other one has its id.
      const kind = isSame && mayUpgrade && opened.file.fileId === node ? 'again' : 'all';
      return this.#switchTo(opened, kind);
    } catch (thrown) {
      // Another process may have just reset the conversation.
      if (systemCode(thrown) === 'ENOENT') return this.#noFile();
      throw thrown;
    }
  }

  /** The entries added to the open file; null if another file was copied over it or it is damaged. */
  #newEntries(): readonly Entry[] | null {
    return attempted(() => this.#file?.readNew() ?? null);
  }

  #noFile(): HistoryChange {
    const kind = this.#isEmpty ? 'added' : 'all';
    this.close();
    this.#isEmpty = true;
    return { kind, entries: [] };
  }

  #switchTo({ file, entries }: Opened, kind: 'all' | 'again'): HistoryChange {
    this.close();
    this.#file = file;
    this.#isEmpty = false;
    const report = file instanceof ArrayFile ? file.report : null;
    if (report) this.#notices.add(editNotice(report));
    return { kind, entries };
  }

  #syncOrRepair(codec: Codec): HistoryChange {
    try {
      return this.#sync(codec, true);
    } catch (thrown) {
      if (!(thrown instanceof Damaged)) throw thrown;
      return this.#repair(codec);
    }
  }

  #repair(codec: Codec): HistoryChange {
    loadedSalvage();
    const log = this.#file instanceof LogFile ? this.#file.log : newLogName();
    this.close();
    this.#notices.add(repair(codec, this.#paths, log, this.#now()));
    return this.#sync(codec, true);
  }

  /** Runs a repair. If it cannot write, reads as much as possible of the damaged file. */
  async #repairOrReadOnly(codec: Codec, work: () => HistoryChange): Promise<HistoryChange> {
    await loadSalvage();
    try {
      if (this.#isKept) return await this.#underLock('once', work);
    } catch (thrown) {
      const failure = asHistoryError(thrown, this.#paths.history);
      if (!(failure instanceof HiError)) throw thrown;
      this.#notices.add(`The history is damaged and cannot be repaired. ${failure.message}`);
    }
    if (!this.#isKept) this.#notices.add('The history is damaged. hi uses the part that can be read.');
    this.close();
    const { file, entries } = openDamaged(codec, this.#paths.history);
    this.#file = file;
    this.#isEmpty = false;
    return { kind: 'all', entries };
  }
}

function* withMore(entries: Iterable<Entry>, more: Iterable<Entry>): Generator<Entry> {
  yield* entries;
  yield* more;
}

/** The result of `read`; null for what is damaged, or being written. */
function attempted<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
    return null;
  }
}
