import { type Entry, isAside, isCompressBlock, isMessage } from '../chat/entry.js';
import { HeldEntries } from '../chat/entry-list.js';
import { stateOf } from '../view/block-state.js';
import { firstNeeded, isWhole, newestBase, newestBlock } from '../view/view.js';
import { messagesIn } from './file/entries.js';
import { type Facts, NO_FACTS, withEntry } from './file/layout.js';
import type { HistoryChange, HistoryFile } from './history-file.js';

/** The entries of the log that are in memory: all from the first one that the view needs, oldest first. */
export class LoadedEntries {
  readonly #disk: HistoryFile;
  /** The ids of what this process wrote in its aside; null if it takes part in the conversation. */
  readonly #own: Set<number> | null;
  #entries: Entry[] = [];
  #conversation: { readonly version: number; readonly entries: readonly Entry[] } | null = null;
  #facts: Facts = NO_FACTS;
  #version = 0;
  #edition = 0;

  constructor(disk: HistoryFile, isAside: boolean) {
    this.#disk = disk;
    this.#own = isAside ? new Set() : null;
  }

  get list(): readonly Entry[] {
    return this.#entries;
  }

  /** What requests are made from: the conversation without asides or, in an aside, only that. */
  get shown(): readonly Entry[] {
    return this.#own === null ? this.#withoutAsides : this.#entries.filter((entry) => this.shows(entry));
  }

  /** Whether an entry, loaded or not, is one of those. */
  shows(entry: Entry): boolean {
    return this.#own === null ? !isAside(entry) : this.#own.has(entry.id);
  }

  get #withoutAsides(): readonly Entry[] {
    if (this.#conversation?.version !== this.#version) {
      const entries = this.#entries.some(isAside) ? this.#entries.filter((entry) => !isAside(entry)) : this.#entries;
      this.#conversation = { version: this.#version, entries };
    }
    return this.#conversation.entries;
  }

  /** Counts of the whole log. */
  get facts(): Facts {
    return this.#facts;
  }

  /** Changes whenever `list` or `shown` changes. */
  get version(): number {
    return this.#version;
  }

  /** Changes when something that was read of the log may be gone from it, in memory or not. */
  get edition(): number {
    return this.#edition;
  }

  /**
   * The number of messages that are neither covered by a block nor in `list`, because no request could contain them.
   */
  get unloaded(): number {
    const entries = this.#withoutAsides;
    const { messages, asides = 0 } = this.#facts;
    return this.#own === null && newestBase(entries) === null ? messages - asides - messagesIn(entries) : 0;
  }

  /** The id of the first entry that any later view or compaction of the conversation can need, null for none. */
  get needed(): number | null {
    return firstNeeded(this.#withoutAsides);
  }

  /** Takes what this process has written into its aside. */
  own(entries: readonly Entry[]): void {
    for (const { id } of entries) this.#own?.add(id);
    this.#version += 1;
  }

  /** False if these entries show that a written entry is no longer in the log. */
  contains(entry: Entry): boolean {
    const [first] = this.#entries;
    if (first === undefined || entry.id < first.id) return entry.id <= this.#facts.last;
    const found = this.#entries.findLast(({ id }) => id === entry.id);
    return found !== undefined && isLeftOf(entry, found);
  }

  /** True when the log holds exactly these entries under their ids. */
  containsAll(entries: readonly Entry[]): boolean {
    const ids = new Set(entries.map(({ id }) => id));
    const found = this.#entries.filter(({ id }) => ids.has(id));
    return JSON.stringify(found) === JSON.stringify(entries);
  }

  /** Applies a change of the file. */
  apply({ kind, entries }: HistoryChange): void {
    if (kind !== 'added') {
      if (kind === 'all' || !isContinued(this.#entries, entries)) this.#edition += 1;
      this.#entries = [];
      this.#facts = NO_FACTS;
    }
    this.add(entries);
    this.#facts = this.#disk.file?.facts ?? this.#facts;
    if (kind !== 'added') this.dropUnneeded();
  }

  /** Appends entries. A block that restores an earlier view also restores the entries that it needs. */
  add<Kind extends Entry>(entries: readonly Kind[]): readonly Kind[] {
    this.#version += 1;
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#facts = withEntry(this.#facts, entry);
    }
    if (entries.some(restores)) {
      this.#entries = [...olderEntries(this.#disk, this.#withoutAsides), ...this.#entries];
      this.#version += 1;
    }
    return entries;
  }

  /** Drops the entries that nothing needs. Returns the id of the first needed one, null for none. */
  dropUnneeded(): number | null {
    const { needed } = this;
    if (needed !== this.#entries[0]?.id) {
      const isNeeded = (id: number): boolean => (needed !== null && id >= needed) || this.#own?.has(id) === true;
      this.#entries = this.#entries.filter(({ id }) => isNeeded(id));
      this.#version += 1;
    }
    return needed;
  }
}

/** Whether the held entries are among these, with nothing between them. */
function isContinued(held: readonly Entry[], entries: readonly Entry[]): boolean {
  const start = entries.findIndex(({ id }) => id === held[0]?.id);
  return HeldEntries.of(held).isBeginningOf(entries.slice(Math.max(0, start)));
}

/** Whether an entry is another one, maybe without some of its parts, which were forgotten since. */
function isLeftOf(entry: Entry, found: Entry): boolean {
  if (!isMessage(entry) || !isMessage(found)) return JSON.stringify(found) === JSON.stringify(entry);
  const parts = new Set(entry.content.map((part) => JSON.stringify(part)));
  return (
    found.at === entry.at && found.role === entry.role && found.content.every((part) => parts.has(JSON.stringify(part)))
  );
}

/** Whether a block brings messages back into view. */
const restores = (entry: Entry): boolean => isCompressBlock(entry) && (entry.restores !== undefined || isWhole(entry));

/**
 * The entries before the loaded ones that a block restores: they had left memory with the compaction that the block
 * undoes. Empty if there is no such block. Entries that cannot be read are left out; a repair will find them.
 */
function olderEntries(disk: HistoryFile, loaded: readonly Entry[]): readonly Entry[] {
  const newest = newestBlock(loaded);
  const base = isWhole(newest) ? newest : newestBase(loaded);
  const [first] = loaded;
  if (base === null || !restores(base) || first === undefined) return [];
  const { also, open } = stateOf(base);
  const from = [base.first_kept ?? base.id, ...also, ...open].reduce((least, id) => Math.min(least, id));
  return from < first.id ? disk.between(from, first.id) : [];
}
