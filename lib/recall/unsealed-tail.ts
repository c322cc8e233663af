import { type Entry, isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { changesOfUndone } from './disk/build.js';
import type { Segment } from './disk/segment.js';
import { coveredBy, openTailFile, removeTailFiles, writeTailFile } from './disk/tail-files.js';
import { Collector } from './index/collector.js';
import { documentOf } from './index/documents.js';
import { KindReader } from './index/kind-reader.js';
import type { IndexPart } from './index/part.js';

/** The number of characters from which the index of the tail is stored in a file. Below it, every process indexes the text itself. */
const KEPT_FROM = 32 * 1024;

/** The newest messages, which are in no segment yet. They are indexed in memory, as the conversation continues; a large index is stored in files. */
export class UnsealedTail {
  readonly messages: Message[] = [];
  readonly undone: number[] = [];
  readonly first: number;
  readonly #folder: string;
  readonly #reader = new KindReader();
  /** The parts before the collector, and the first document of each part. */
  readonly #done: IndexPart[] = [];
  readonly #starts: number[] = [0];
  readonly #files: Segment[] = [];
  #collector = new Collector();
  #characters = 0;
  /** The first entry that is in no file. */
  #unkept: number | null = null;
  #lastMark = 0;
  #last = 0;
  #lastAt = '';

  /** Loads the files in `folder` for these entries, unless `believesFiles` is false. */
  constructor(entries: readonly Entry[], folder: string, believesFiles = true) {
    this.first = entries[0]?.id ?? 0;
    this.#folder = folder;
    if (believesFiles) this.#open(entries);
  }

  /** The parts of the index, in order. */
  get parts(): readonly IndexPart[] {
    return [...this.#done, this.#collector];
  }

  /** The number of documents. */
  get count(): number {
    return this.messages.length;
  }

  /** The message of a document of one of the parts. */
  message(part: number, local: number): Message | null {
    return this.messages[(this.#starts[part] ?? 0) + local] ?? null;
  }

  /** True if it contains the beginning of these entries and can be extended. */
  isBeginningOf(entries: readonly Entry[]): boolean {
    const held = this.#last === 0 ? null : entries.findLast(({ id }) => id === this.#last);
    // The ids of entries that were never written are used again by later ones.
    return this.first === (entries[0]?.id ?? 0) && (held === null || held?.at === this.#lastAt);
  }

  /** Adds newer entries, oldest first, as long as there is time; true if it added all. Undone turns are always up to date. */
  add(entries: readonly Entry[], hasTime: () => boolean): boolean {
    this.#addMarks(entries);
    for (const entry of entries) {
      if (entry.id <= this.#last) continue;
      if (!hasTime()) return false;
      this.#pass(entry);
      this.#unkept ??= entry.id;
      const document = isMessage(entry) ? documentOf(entry, this.#reader.kindOf(entry)) : null;
      if (document === null || !isMessage(entry)) continue;
      this.#collector.add(document);
      this.#characters += document.text.length;
      this.messages.push(entry);
    }
    return true;
  }

  /** Stores the index in a file if that is worthwhile. `all` returns its entries. Throws system errors. */
  keep(all: () => readonly Entry[]): void {
    if (this.#characters < KEPT_FROM) return;
    const entries = all();
    const unkept = entries.filter(({ id }) => id >= (this.#unkept ?? 0) && id <= this.#last);
    const ids = this.messages.slice(this.#starts.at(-1)).map(({ id }) => id);
    writeTailFile(this.#folder, unkept, this.#collector, ids);
    removeTailFiles(this.#folder, entries);
    this.#end(this.#collector);
    this.#collector = new Collector();
    this.#characters = 0;
    this.#unkept = null;
  }

  /** Whether all its files are intact. */
  areFilesSound(): boolean {
    return this.#files.every((file) => file.isSound());
  }

  close(): void {
    for (const file of this.#files) file.close();
  }

  #open(entries: readonly Entry[]): void {
    for (let rest = entries; rest.length > 0; ) {
      const file = openTailFile(this.#folder, rest);
      if (file === null) return;
      this.#files.push(file);
      const ids = new Set(file.ids());
      for (const entry of rest.slice(0, coveredBy(file))) {
        this.#pass(entry);
        if (isMessage(entry)) this.#reader.kindOf(entry);
        if (isMessage(entry) && ids.has(entry.id)) this.messages.push(entry);
      }
      this.#end(file);
      rest = rest.slice(coveredBy(file));
    }
  }

  #pass({ id, at }: Entry): void {
    this.#last = id;
    this.#lastAt = at;
  }

  /** Ends a part. Later documents go to another one. */
  #end(part: IndexPart): void {
    this.#done.push(part);
    this.#starts.push(this.messages.length);
  }

  #addMarks(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.id <= this.#lastMark) continue;
      this.#lastMark = entry.id;
      for (const turn of changesOfUndone(entry)) this.undone.push(turn);
    }
  }
}
