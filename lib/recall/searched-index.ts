import { type Entry, isMessage } from '../chat/entry.js';
import { HeldEntries } from '../chat/entry-list.js';
import type { Message } from '../chat/message.js';
import {
  changesOfUndone,
  coveredBy,
  hasTailFiles,
  openTailFile,
  removeOtherTailFiles,
  undoneAfter,
  writeTailFile,
} from './disk/build.js';
import { DamagedSegment } from './disk/pages.js';
import type { Segment } from './disk/segment.js';
import { Collector } from './index/collector.js';
import { type Archive, documentOf, KindReader } from './index/documents.js';
import type { IndexPart, Kind } from './index/part.js';
import { Scores } from './rank/rank.js';
import { entriesFrom, messagesAround, ORIGIN_REACH, type Origin, originOf, type Said } from './search.js';

/** The kinds of messages that begin a turn. */
const ASKED: readonly Kind[] = ['user', 'attached'];

/** The number of cached messages. A search for a phrase reads thousands, most of them once. */
const AT_HAND = 64;

/** What is searched of one conversation, at one moment. */
export interface Volume {
  readonly archive: Archive;
  readonly segments: readonly Segment[];
  readonly tail: UnsealedTail;
  /** The imported book that it is; null for the conversation. */
  readonly book: string | null;
}

/** The parts of the index of a volume, in order. */
export const partsOf = ({ segments, tail }: Volume): readonly IndexPart[] => [...segments, ...tail.parts];

/** A volume in a library: its first part, its documents, and its undone turns. */
interface PlacedVolume extends Volume {
  readonly firstPart: number;
  readonly first: number;
  readonly end: number;
  readonly undone: ReadonlySet<number>;
}

/** All searchable documents of one conversation, or of several books, as one sequence, each with its message. */
export class Library {
  readonly scores: Scores;
  readonly volumes: readonly PlacedVolume[];
  readonly #read = new Map<number, Message | null>();
  readonly #documents = new WeakMap<Message, number>();
  readonly #origins = new WeakMap<Message, Origin>();

  /**
   * `scores` are those of the parts of all volumes, in order, with one document between two volumes that is in neither.
   */
  constructor(volumes: readonly Volume[], scores: Scores) {
    this.scores = scores;
    let [firstPart, first] = [0, 0];
    this.volumes = volumes.map((volume) => {
      const parts = partsOf(volume);
      const undone = undoneAfter([...volume.segments.flatMap((segment) => segment.undone), ...volume.tail.undone]);
      const end = parts.reduce((sum, { count }) => sum + count, first);
      const placed = { ...volume, firstPart, first, end, undone };
      firstPart += parts.length + 1;
      first = end + 1;
      return placed;
    });
  }

  /** The message of a document; null if it was undone or cannot be read. Throws `DamagedSegment`. */
  message(document: number): Message | null {
    let message = this.#read.get(document);
    if (message === undefined) {
      message = this.#load(document);
      const [oldest] = this.#read.keys();
      if (this.#read.size >= AT_HAND && oldest !== undefined) this.#read.delete(oldest);
      this.#read.set(document, message);
      if (message !== null) this.#documents.set(message, document);
    }
    return message === null || isUndone(message, this.volumeOf(document)) ? null : message;
  }

  /** The volume that a document is in, or before. Throws for a document that does not exist. */
  volumeOf(document: number): PlacedVolume {
    const volume = this.volumes.find(({ end }) => document < end);
    if (volume === undefined) throw new RangeError(`There is no document ${document}.`);
    return volume;
  }

  /**
   * The id of the message of a document; null if it was undone or cannot be read. Reads it only where turns were
   * undone. Throws like `message`.
   */
  idOf(document: number): number | null {
    const spot = this.volumeOf(document).undone.size === 0 ? this.#spot(document) : null;
    return spot?.id ?? this.message(document)?.id ?? null;
  }

  /**
   * Whether the words by which the last search found a document still exist: its own, or those of neighbours that were
   * not undone. Throws like `message`.
   */
  isFound(document: number): boolean {
    if (this.volumeOf(document).undone.size === 0) return true;
    for (const near of this.scores.near(document)) if (this.message(near) !== null) return true;
    return false;
  }

  /** A message of a volume with its origin. Throws read errors. */
  said<Given extends Message | null>(message: Given, volume: PlacedVolume): Given extends null ? null : Said;
  said(message: Message | null, volume: PlacedVolume): Said | null {
    if (message === null) return null;
    const origin = this.#origins.get(message) ?? this.#originOf(message, volume);
    this.#origins.set(message, origin);
    return { message, origin, ...(volume.book !== null && { book: volume.book }) };
  }

  #originOf(message: Message, volume: PlacedVolume): Origin {
    const document = this.#documents.get(message);
    // The index says `model` only if it knows everything that the model had read. Otherwise the log decides.
    if (document !== undefined && this.scores.kindOf(document) === 'model') return 'model';
    return originOf(message, () => this.#leadingTo(message, volume));
  }

  /** The messages that lead to one, beginning before its turn; only some of them if the turn is very long. */
  #leadingTo(message: Message, volume: PlacedVolume): readonly Message[] {
    const leading = this.#sinceLastAsked(message, volume);
    const isWhole = leading.some(({ id }) => id === message.turn);
    return isWhole ? leading : messagesAround(volume.archive, message.id, ORIGIN_REACH, 0);
  }

  #sinceLastAsked(message: Message, { archive, first }: PlacedVolume): readonly Message[] {
    const document = this.#documents.get(message);
    const from = document === undefined ? null : this.#spot(this.#beforeTurnOf(document, first));
    if (from === null) return [];
    const leading: Message[] = [];
    for (const entry of entriesFrom(archive, from.piece, from.place)) {
      if (entry.id >= message.id) break;
      if (isMessage(entry)) leading.push(entry);
    }
    return leading;
  }

  /** The document before the turn of a document, in the volume that begins with `begin`. */
  #beforeTurnOf(document: number, begin: number): number {
    const least = Math.max(begin, document - ORIGIN_REACH);
    let first = document - 1;
    while (first > least && !ASKED.includes(this.scores.kindOf(first))) first -= 1;
    return Math.max(least, first - 1);
  }

  /** The spot of a document; null if it is not sealed. */
  #spot(document: number): ReturnType<Segment['spot']> {
    const { part, local } = this.scores.locate(document);
    const { segments, firstPart } = this.volumeOf(document);
    return segments[part - firstPart]?.spot(local) ?? null;
  }

  #load(document: number): Message | null {
    if (document < 0 || document >= this.scores.count) return null;
    const { part, local } = this.scores.locate(document);
    const { archive, segments, tail, firstPart, first } = this.volumeOf(document);
    if (document < first) return null;
    const segment = segments[part - firstPart];
    if (segment === undefined) return tail.message(part - firstPart - segments.length, local);
    const spot = segment.spot(local);
    const entry = spot === null ? null : archive.readAt(spot.piece, spot.place);
    if (entry !== null && entry.id !== spot?.id) {
      segment.distrust();
      throw new DamagedSegment(`Document ${document} is not #${spot?.id}.`);
    }
    return entry !== null && isMessage(entry) ? entry : null;
  }
}

/** Keeps a library, which is expensive to create, until something is added to what it searches. */
export class KeptLibrary {
  #scored: { readonly parts: readonly IndexPart[]; readonly count: number; readonly scores: Scores } | null = null;
  /** Between two volumes: a document is also found by the words of those beside it. */
  readonly #between = new Collector();

  constructor() {
    this.#between.add({ kind: 'note', day: 0, text: '' });
  }

  of(volumes: readonly Volume[]): Library {
    const parts = volumes.flatMap((volume, index) => [...(index > 0 ? [this.#between] : []), ...partsOf(volume)]);
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    const known = this.#scored;
    const isKnown =
      known?.count === count &&
      known.parts.length === parts.length &&
      known.parts.every((part, index) => part === parts[index]);
    const scores = known !== null && isKnown ? known.scores : new Scores(parts);
    this.#scored = { parts, count, scores };
    return new Library(volumes, scores);
  }

  clear(): void {
    this.#scored = null;
  }
}

/** Whether the user undid it. */
export const isUndone = ({ turn }: Message, { undone }: Pick<PlacedVolume, 'undone'>): boolean => undone.has(turn);

/**
 * The number of characters from which the index of the tail is stored in a file. Below it, every process indexes the
 * text itself.
 */
const KEPT_FROM = 32 * 1024;

/**
 * The newest messages, which are in no segment yet. They are indexed in memory, as the conversation continues; a large
 * index is stored in files.
 */
export class UnsealedTail {
  readonly messages: Message[] = [];
  readonly undone: number[] = [];
  readonly #folder: string;
  readonly #reader = new KindReader();
  /** The parts before the collector, and the first document of each part. */
  readonly #done: IndexPart[] = [];
  readonly #starts: number[] = [0];
  readonly #files: Segment[] = [];
  #collector = new Collector();
  #characters = 0;
  /** All entries in it, and those that are in no file, from the first one's id on. */
  readonly #held = new HeldEntries();
  #unkept = new HeldEntries();
  #firstUnkept: number | null = null;
  /** The ids of the entries with which its files begin. */
  readonly #kept: number[] = [];
  /** Whether there is a file of other entries, or may be. */
  #hasOtherFiles = false;
  #last = 0;

  /** Loads the files in `folder` for these entries, unless `believesFiles` is false. */
  constructor(entries: readonly Entry[], folder: string, believesFiles = true) {
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
    return this.#held.isBeginningOf(entries);
  }

  /**
   * Adds newer entries, oldest first, as long as there is time; true if it added all. Undone turns are always up to
   * date.
   */
  add(entries: readonly Entry[], hasTime: () => boolean): boolean {
    this.#readMarks(entries);
    for (const entry of entries) {
      if (entry.id <= this.#last) continue;
      if (!hasTime()) return false;
      this.#pass(entry);
      this.#unkept.add(entry);
      this.#firstUnkept ??= entry.id;
      const document = isMessage(entry) ? documentOf(entry, this.#reader.kindOf(entry)) : null;
      if (document === null || !isMessage(entry)) continue;
      this.#collector.add(document);
      this.#characters += document.text.length;
      this.messages.push(entry);
    }
    return true;
  }

  /**
   * Stores the index in a file if that is worthwhile, and removes the files of other entries. Throws system errors and
   * a `HiError`.
   */
  async keep(archive: Pick<Archive, 'ifCurrent'>): Promise<void> {
    if (this.#hasOtherFiles) removeOtherTailFiles(this.#folder, this.#kept);
    this.#hasOtherFiles = false;
    if (this.#characters >= KEPT_FROM && this.#firstUnkept !== null) {
      const ids = this.messages.slice(this.#starts.at(-1)).map(({ id }) => id);
      const [first, held] = [this.#firstUnkept, this.#unkept];
      const indexed = { first, held, ids, collector: this.#collector };
      if (!(await writeTailFile(this.#folder, indexed, archive))) return;
      this.#kept.push(first);
      this.#end(this.#collector);
      this.#collector = new Collector();
      this.#characters = 0;
      this.#unkept = new HeldEntries();
      this.#firstUnkept = null;
      removeOtherTailFiles(this.#folder, this.#kept);
    }
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
      if (file === null) {
        this.#hasOtherFiles = hasTailFiles(this.#folder);
        return;
      }
      this.#files.push(file);
      this.#kept.push(rest[0]?.id ?? 0);
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

  #pass(entry: Entry): void {
    this.#last = entry.id;
    this.#held.add(entry);
  }

  /** Ends a part. Later documents go to another one. */
  #end(part: IndexPart): void {
    this.#done.push(part);
    this.#starts.push(this.messages.length);
  }

  #readMarks(entries: readonly Entry[]): void {
    this.undone.length = 0;
    for (const entry of entries) for (const turn of changesOfUndone(entry)) this.undone.push(turn);
  }
}

/** Keeps the index of a conversation's unsealed entries between searches. */
export class KeptTail {
  #tail: UnsealedTail | null = null;
  /** The version of the entries that it contains completely; empty if some are missing. */
  #version = '';
  #believesFiles = true;

  /** The tail with the new entries, as far as time allows. `folder` may contain files of an earlier process. */
  of(archive: Archive, folder: string, hasTime: () => boolean): UnsealedTail {
    if (this.#tail !== null && this.holds(archive)) return this.#tail;
    const entries = archive.rest();
    let tail = this.#tail;
    if (tail?.isBeginningOf(entries) !== true) {
      tail?.close();
      tail = new UnsealedTail(entries, folder, this.#believesFiles);
    }
    this.#tail = tail;
    this.#version = tail.add(entries, hasTime) ? archive.restVersion : '';
    return tail;
  }

  /** Whether it contains all unsealed entries. */
  holds({ restVersion }: Archive): boolean {
    return this.#version === restVersion;
  }

  /** Writes files that save the next process time. Throws system errors and a `HiError`. */
  async keep(archive: Archive): Promise<void> {
    if (this.holds(archive)) await this.#tail?.keep(archive);
  }

  /** Drops the tail if one of its files is damaged, so that both are rebuilt. */
  dropDamaged(): void {
    if (this.#tail?.areFilesSound() !== false) return;
    this.close();
    this.#believesFiles = false;
  }

  close(): void {
    this.#tail?.close();
    this.#tail = null;
    this.#version = '';
  }
}
