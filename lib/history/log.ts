import { asStored, type Entry, isCompressBlock } from '../chat/entry.js';
import { withoutCopies } from '../chat/entry-list.js';
import { HiError, isAbort, systemCode } from '../errors.js';
import { stateOf } from '../view/block-state.js';
import { newestBase } from '../view/view.js';
import type { HistoryPaths } from './base/history-paths.js';
import type { Notices } from './base/notices.js';
import type { Codec } from './file/codec.js';
import { lastMessages, messagesIn } from './file/entries.js';
import { Damaged } from './file/frames.js';
import { type Facts, flattenEntries } from './file/layout.js';
import { LogFile } from './file/log-file.js';
import { type HistoryChange, HistoryFile } from './history-file.js';
import { LoadedEntries } from './loaded-entries.js';
import { runExclusive } from './lock/exclusive.js';
import { type ConversationReading, openReading } from './open-reading.js';

/**
 * After so many failures to read the file the lock is taken to see whether it is damaged, and after so many all in all
 * that is an error.
 */
const UNLOCKED_TRIES = 4;
const MOST_TRIES = 40;

/** The name of the work that forgets, and of that during which nothing may be forgotten. */
export const FORGETTING = 'history.forget';

/**
 * What becomes of what is said now: it goes to disk, or stays in memory because of `--ephemeral` or until `/on`.
 * Whoever would store something of the conversation asks the `HistoryStore` each time, for it changes during a chat.
 */
export type Keeping = 'kept' | 'ephemeral' | 'off-record';

/** How a process uses the log. */
export interface LogUse {
  readonly keeping: Keeping;
  /** Whether they are an aside: nothing of the conversation is in its view, and nothing of it in any other. */
  readonly isAside: boolean;
}

/** The log in memory, kept in sync with the file, which other processes write too. */
export class Log {
  readonly keeping: Keeping;
  /** Whether what this process writes is an aside. */
  readonly isAside: boolean;
  readonly #folder: string;
  readonly #disk: HistoryFile;
  readonly #loaded: LoadedEntries;
  #isRead = false;
  /** The first id of the entries in memory only. Other processes may have written the same ids since. */
  #ownFrom = Number.POSITIVE_INFINITY;
  #sealed = 0;
  #isUndisturbed = false;

  constructor(paths: HistoryPaths, now: () => Date, { keeping, isAside }: LogUse, notices: Notices) {
    this.#folder = paths.folder;
    this.#disk = new HistoryFile(paths, now, keeping === 'kept', notices);
    this.#loaded = new LoadedEntries(this.#disk, isAside);
    this.keeping = keeping;
    this.isAside = isAside;
  }

  /** False if new entries stay in memory. */
  get isKept(): boolean {
    return this.keeping === 'kept';
  }

  /**
   * Every entry from the first one that the view needs, oldest first, without asides; in an aside, only its own
   * entries.
   */
  get entries(): readonly Entry[] {
    return this.#loaded.shown;
  }

  /** The entries in memory, with all asides. */
  get loaded(): readonly Entry[] {
    return this.#loaded.list;
  }

  get facts(): Facts {
    return this.#loaded.facts;
  }

  /** Changes whenever `entries` changes. */
  get version(): number {
    return this.#loaded.version;
  }

  /**
   * Changes when something that was read of the log may be gone from it, because a process forgot, reset, repaired or
   * replaced it.
   */
  get edition(): number {
    return this.#loaded.edition;
  }

  /**
   * The number of messages that are neither covered by a block nor in `entries`, because no request could contain them.
   */
  get unloaded(): number {
    return this.#loaded.unloaded;
  }

  /** The name of the conversation, which changes with a reset; null while there is none on disk. */
  get name(): string | null {
    return this.#disk.file?.log ?? null;
  }

  /** False if the entries in memory show that a written entry is no longer in the log. */
  contains(entry: Entry): boolean {
    return this.#loaded.contains(entry);
  }

  /**
   * Applies the changes by other processes; in memory only what they removed. Throws a `HiError` when the file cannot
   * be read.
   */
  async refresh(): Promise<void> {
    const { name } = this;
    const change = await this.#disk.refresh();
    if (this.isKept || !this.#isRead) {
      this.#loaded.apply(change);
      this.#isRead = true;
      if (!this.isKept) this.#ownFrom = this.facts.last + 1;
    } else if (change.kind !== 'added') {
      const { own } = this;
      const base = isSameLog(name, this.name) ? change.entries.filter(({ id }) => id < this.#ownFrom) : [];
      this.#loaded.apply({ ...change, entries: base });
      this.#loaded.add(withoutCopies(own));
    }
  }

  /** The entries in memory only. */
  get own(): readonly Entry[] {
    return this.loaded.filter(({ id }) => id >= this.#ownFrom);
  }

  /**
   * Reads the changes, and tells whether everything that was read when the edition was this one is still in the log.
   * Throws a `HiError`.
   */
  async isCurrent(edition: number): Promise<boolean> {
    await this.refresh();
    return this.edition === edition;
  }

  /**
   * Runs `work` under the lock if that is so, else resolves to false. Always false where nothing is written. Throws a
   * `HiError`.
   */
  async ifCurrent(edition: number, work: () => void): Promise<boolean> {
    if (!this.isKept) return false;
    return await this.#disk.withLock((_codec, change) => {
      this.#loaded.apply(change);
      if (this.edition !== edition) return false;
      work();
      return true;
    });
  }

  /**
   * Appends the entries that `plan` returns for the next id. They are on disk when this resolves; when it rejects with
   * a `HiError`, or an abort error because `signal` ended the wait for another process, the file is unchanged.
   */
  async write<Kind extends Entry>(
    plan: (next: number) => readonly Kind[],
    signal?: AbortSignal,
  ): Promise<readonly Kind[]> {
    const planned = (next: number): readonly Kind[] =>
      plan(next).map((entry) => asStored(this.isAside ? { ...entry, aside: true } : entry));
    const written = this.isKept ? await this.#append(planned, signal) : this.#loaded.add(planned(this.facts.last + 1));
    this.#loaded.own(written);
    return written;
  }

  async #append<Kind extends Entry>(
    planned: (next: number) => readonly Kind[],
    signal?: AbortSignal,
  ): Promise<readonly Kind[]> {
    let tried: readonly Kind[] = [];
    const appended = (codec: Codec, change: HistoryChange): readonly Kind[] => {
      this.#loaded.apply(change);
      if (tried.length > 0 && this.#loaded.containsAll(tried)) return tried;
      const entries = planned(this.facts.last + 1);
      tried = entries;
      if (entries.length > 0) this.#disk.append(codec, entries);
      return this.#loaded.add(entries);
    };
    const written = await this.#disk.withLock(appended, signal);
    const { file } = this.#disk;
    if (!(file instanceof LogFile)) return written;
    await this.#disk.guarded(async () => await file.sync());
    await this.#seal(file, written);
    return written;
  }

  /**
   * Permanently removes the messages that no later view or compaction needs. The compress blocks stay. `after` gets the
   * remaining entries of this conversation and of the reset copy. When it throws a `HiError` the file is unchanged.
   */
  async discard(after: (logs: readonly Iterable<Entry>[]) => void): Promise<void> {
    if (!this.isKept) return;
    await this.#lockedWithRepair((codec) => {
      // Messages that no summary covers are kept, however old they are.
      const base = newestBase(this.entries);
      const needed = base === null || stateOf(base).skipped !== null ? 0 : (this.#loaded.needed ?? 0);
      const keeps = (entry: Entry): boolean => entry.id >= needed || isCompressBlock(entry);
      this.#loaded.apply(this.#disk.rewrite(codec, (entry) => (keeps(entry) ? entry : null)));
      after(this.#disk.allLogs());
    });
  }

  /**
   * Rewrites the file under the lock. `plan` gets all entries, anew whenever it asks for them, and returns the function
   * that changes each, or null to leave the file unchanged. What `more` returns for the next id is added behind them.
   * Throws a `HiError`.
   */
  async rewrite(
    plan: (entries: Iterable<Entry>) => ((entry: Entry) => Entry | null) | null,
    more: (next: number) => Iterable<Entry> = () => [],
  ): Promise<void> {
    await this.#lockedWithRepair((codec) => {
      const all = { [Symbol.iterator]: () => flattenEntries(this.#disk.file?.all() ?? []) };
      const change = plan(all);
      if (change !== null) this.#loaded.apply(this.#disk.rewrite(codec, change, more(this.facts.last + 1)));
    });
  }

  /** Runs `work` under the lock with all entries of this conversation and of the reset copy. Throws a `HiError`. */
  async withAllLogs(work: (logs: readonly Iterable<Entry>[]) => void): Promise<void> {
    await this.#lockedWithRepair(() => work(this.#disk.allLogs()));
  }

  /** Runs `work` under the lock, whatever the state of the file, then refreshes. Throws a `HiError`. */
  async exclusively(work: () => void): Promise<void> {
    await this.#disk.exclusively(work);
    await this.refresh();
  }

  /** Removes all entries of a conversation that is in memory only. */
  clear(): void {
    this.#disk.close();
    this.#loaded.apply({ kind: 'all', entries: [] });
    this.#ownFrom = 0;
  }

  /** All entries at the time of the call, oldest first. Repairs any damage it finds. Throws a `HiError`. */
  async *all(): AsyncGenerator<Entry> {
    await this.refresh();
    let last = 0;
    for (let tries = 0; ; tries += 1) {
      try {
        for await (const entries of this.#disk.groups()) {
          for (const entry of entries) {
            if (entry.id <= last || entry.id >= this.#ownFrom) continue;
            last = entry.id;
            yield entry;
          }
        }
        break;
      } catch (thrown) {
        await this.#recover(thrown, tries);
      }
    }
    if (!this.isKept) yield* this.own;
  }

  /** Those of them that requests are made from, as in `entries`. */
  async *conversation(): AsyncGenerator<Entry> {
    for await (const entry of this.all()) if (this.#loaded.shows(entry)) yield entry;
  }

  /** The last `count` messages and the entries between them, oldest first. Throws a `HiError`. */
  async newest(count: number): Promise<readonly Entry[]> {
    await this.refresh();
    for (let tries = 0; ; tries += 1) {
      const { file } = this.#disk;
      const known = lastMessages(this.loaded, count);
      if (file === null || messagesIn(known) === count || this.loaded.length === this.facts.entries) return known;
      try {
        return file.newest(count);
      } catch (thrown) {
        await this.#recover(thrown, tries);
      }
    }
  }

  /** The number of frames that this process permanently sealed. */
  get sealed(): number {
    return this.#sealed;
  }

  /**
   * Opens a snapshot for random access. The caller closes it. A file in another layout is converted to hi's, if it can
   * be. Throws a `HiError`.
   */
  async reading(): Promise<ConversationReading> {
    await this.refresh();
    if (this.isKept && this.#disk.isForeign) await this.#convert();
    for (let tries = 0; ; tries += 1) {
      const { edition } = this;
      try {
        const snapshot = await openReading(this.#disk, this.isKept ? [] : this.loaded);
        return Object.assign(snapshot, {
          ifCurrent: (work: () => void) => this.ifCurrent(edition, work),
          recover: (damage: unknown) => this.#recover(damage, UNLOCKED_TRIES - 1),
        });
      } catch (thrown) {
        await this.#recover(thrown, tries);
      }
    }
  }

  /**
   * Runs `work` while no other process forgets anything, so that what it reads stays in the log. Just runs it inside of
   * such work, and where nothing can be written. Throws a `HiError` like `runExclusive`.
   */
  async undisturbed<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!this.isKept || this.#isUndisturbed) return await work();
    let isBegun = false;
    try {
      return await runExclusive(this.#folder, FORGETTING, async () => {
        isBegun = true;
        this.#isUndisturbed = true;
        return await work();
      });
    } catch (thrown) {
      if (isBegun || systemCode(thrown) === null) throw thrown;
      return await work();
    } finally {
      this.#isUndisturbed = false;
    }
  }

  close(): void {
    this.#disk.close();
  }

  async #convert(): Promise<void> {
    try {
      await this.#lockedWithRepair((codec) => {
        const change = this.#disk.convert(codec);
        if (change !== null) this.#loaded.apply(change);
      });
    } catch (thrown) {
      // It is read as it is: the folder may be read-only.
      if (!(thrown instanceof HiError)) throw thrown;
    }
  }

  /** Runs `work` under the lock. If it finds damage, repairs it and runs `work` again. */
  async #lockedWithRepair(work: (codec: Codec) => void): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#disk.withLock((codec, change) => {
          this.#loaded.apply(change);
          work(codec);
        });
      } catch (thrown) {
        await this.#recover(thrown, tries);
      }
    }
  }

  /**
   * After damage was found: refreshes first, for another process may have been writing; then repairs what is damaged
   * under the lock too.
   */
  async #recover(thrown: unknown, tries: number): Promise<void> {
    if (!(thrown instanceof Damaged) || tries > MOST_TRIES) throw thrown;
    if (tries % UNLOCKED_TRIES < UNLOCKED_TRIES - 1) await this.refresh();
    else this.#loaded.apply(await this.#disk.repair());
  }

  /**
   * Seals the end of the file if that is worthwhile, and after a compaction, so that the next start reads only what it
   * needs.
   */
  async #seal(file: LogFile, written: readonly Entry[]): Promise<void> {
    const compacted = written.some(isCompressBlock);
    if (!compacted && !file.isSealDue) return;
    try {
      await this.#disk.withLock((_codec, change) => {
        this.#loaded.apply(change);
        const needed = this.#loaded.dropUnneeded();
        if (this.#disk.file instanceof LogFile) this.#sealed += this.#disk.file.seal(needed);
      });
    } catch (thrown) {
      // The messages are on disk already; sealing only saves space and time, and the next append tries again.
      if (!(thrown instanceof HiError || thrown instanceof Damaged || isAbort(thrown))) throw thrown;
    }
  }
}

/**
 * Whether a file has the name of the conversation that was read. A file in another layout has none until it is
 * converted.
 */
const isSameLog = (read: string | null, now: string | null): boolean => read === now || (read === '' && now !== null);
