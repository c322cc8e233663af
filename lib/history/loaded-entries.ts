import { type Entry, isCompressBlock } from '../chat/entry.js';
import { firstNeeded, newestBase } from '../view/view.js';
import { messagesIn } from './file/entries/entries.js';
import { type Facts, NO_FACTS, withEntry } from './file/facts.js';
import type { HistoryChange, HistoryFile } from './history-file.js';
import { olderEntries } from './older-entries.js';

/** The entries of the log that are in memory: all from the first one that the view needs, oldest first. */
export class LoadedEntries {
  readonly #disk: HistoryFile;
  #entries: Entry[] = [];
  #facts: Facts = NO_FACTS;
  #version = 0;

  constructor(disk: HistoryFile) {
    this.#disk = disk;
  }

  get list(): readonly Entry[] {
    return this.#entries;
  }

  /** Counts of the whole log. */
  get facts(): Facts {
    return this.#facts;
  }

  /** Changes whenever `list` changes. */
  get version(): number {
    return this.#version;
  }

  /** The number of messages that are neither covered by a block nor in `list`, because no request could contain them. */
  get unloaded(): number {
    return newestBase(this.#entries) === null ? this.#facts.messages - messagesIn(this.#entries) : 0;
  }

  /** False if these entries show that a written entry is no longer in the log. */
  contains(entry: Entry): boolean {
    const [first] = this.#entries;
    if (first === undefined || entry.id < first.id) return entry.id <= this.#facts.last;
    const found = this.#entries.findLast(({ id }) => id === entry.id);
    return found !== undefined && JSON.stringify(found) === JSON.stringify(entry);
  }

  /** True when the log holds exactly these entries under their ids. */
  containsAll(entries: readonly Entry[]): boolean {
    const ids = new Set(entries.map(({ id }) => id));
    const found = this.#entries.filter(({ id }) => ids.has(id));
    return JSON.stringify(found) === JSON.stringify(entries);
  }

  /** Applies a change of the file. */
  apply({ kind, entries }: HistoryChange): void {
    if (kind === 'all') {
      this.#entries = [];
      this.#facts = NO_FACTS;
    }
    this.add(entries);
    this.#facts = this.#disk.file?.facts ?? this.#facts;
    if (kind === 'all') this.dropUnneeded();
  }

  /** Appends entries. A block that restores an earlier view also restores the entries that it needs. */
  add<Kind extends Entry>(entries: readonly Kind[]): readonly Kind[] {
    this.#version += 1;
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#facts = withEntry(this.#facts, entry);
    }
    if (entries.some((entry) => isCompressBlock(entry) && entry.restores !== undefined))
      this.#entries = [...olderEntries(this.#disk.file, this.#entries), ...this.#entries];
    return entries;
  }

  /** Drops the entries that nothing needs. Returns the id of the first needed one, null for none. */
  dropUnneeded(): number | null {
    const needed = firstNeeded(this.#entries);
    if (needed !== this.#entries[0]?.id) {
      this.#entries = this.#entries.filter(({ id }) => needed !== null && id >= needed);
      this.#version += 1;
    }
    return needed;
  }
}
