import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn, namesWithLeftovers, removeEmptyFolder, removeFiles, removeLeftovers } from '../../disk.js';
import { systemCode } from '../../errors.js';
import { Vocabulary } from '../index/collector.js';
import type { Archive, Piece } from '../index/documents.js';
import { FrequencyLists } from '../index/part.js';
import { buildSegment, writeIndexFile } from './build.js';
import { DamagedSegment } from './pages.js';
import { type IndexedWord, Segment } from './segment.js';
import { type IndexedPiece, SegmentWriter } from './segment-writer.js';

/** The number of segments of one level that are merged into one of the next. */
const FACTOR = 8;

/** The highest level. Larger segments would take long to build, and to rebuild. */
const LEVELS = 3;

/**
 * The level of a segment of as many pieces as there were when it was made, from the first on: of a book, to which
 * nothing is appended.
 */
const JOINED = LEVELS + 1;

const NAME = /^(\d+)-(\d)\.seg$/;

/** The pieces that a segment covers: `first` and the following ones. */
interface Place {
  readonly first: number;
  readonly level: number;
}

interface Held extends Place {
  readonly segment: Segment;
}

const lengthOf = ({ level, segment }: { readonly level: number; readonly segment?: Segment }): number =>
  level === JOINED ? (segment?.pieces.count ?? Number.POSITIVE_INFINITY) : FACTOR ** level;

/**
 * The segments of one conversation in a folder. Finds them, checks them against the existing pieces, and builds missing
 * ones.
 */
export class IndexFolder {
  readonly #root: string;
  readonly #folder: string;
  #held: readonly Held[] = [];
  #vocabulary = new Vocabulary();

  /** `root` contains a folder for each conversation. Usually there is one; a reset may leave others. */
  constructor(root: string, log: string) {
    this.#root = root;
    this.#folder = join(root, folderName(log));
  }

  /** The segments in order. */
  get segments(): readonly Segment[] {
    return this.#held.map(({ segment }) => segment);
  }

  /** The folder of the segments. */
  get path(): string {
    return this.#folder;
  }

  /**
   * Opens the segments on disk. Closes those that do not belong to these pieces and, if writing is allowed, removes
   * them.
   */
  look(pieces: readonly Piece[], writes: boolean): void {
    const names = new Set(namesIn(this.#folder));
    const known = new Map(this.#held.map((held) => [nameOf(held), held]));
    const found: Held[] = [];
    const places = [...names].flatMap(placeIn).sort((one, other) => other.level - one.level || one.first - other.first);
    for (const place of places) {
      const name = nameOf(place);
      if (found.some((other) => overlap(place, other))) {
        if (writes) this.#remove(name);
        continue;
      }
      const isOf = (held: Held): boolean => held.segment.pieces.are(pieces, held.first, lengthOf(held));
      const held = known.get(name);
      // Another process may have replaced the file of one that is open here.
      const right = held !== undefined && isOf(held) ? held : this.#open(place, writes);
      if (right !== null && isOf(right)) found.push(right);
      else if (right !== null) this.#drop(right, writes);
    }
    for (const held of this.#held) if (!found.includes(held)) held.segment.close();
    this.#held = found.sort((one, other) => one.first - other.first);
  }

  /** The numbers of the pieces without a segment. */
  missing(pieces: readonly Piece[]): readonly number[] {
    const missing: number[] = [];
    let next = 0;
    for (const held of [...this.#held, { first: pieces.length, level: 0 }]) {
      for (; next < held.first; next += 1) missing.push(next);
      next = held.first + lengthOf(held);
    }
    return missing;
  }

  /**
   * Builds the segment of a missing piece, and merges eight segments of a level into one. With `inGroups`, where all
   * eight are missing, it builds that one at once, which saves the merge, but takes a third of a second. Resolves to
   * the number of pieces that were built: none if the conversation has changed.
   */
  async add(archive: Archive, number: number, inGroups: boolean): Promise<number> {
    const first = Math.floor(number / FACTOR) * FACTOR;
    const group = { first, level: 1 };
    const isInside = first + FACTOR <= archive.pieces.length;
    const isWhole = inGroups && isInside && !this.#held.some((held) => overlap(held, group));
    const place = isWhole ? group : { first: number, level: 0 };
    const pieces = archive.pieces.slice(place.first, place.first + lengthOf(place));
    if (pieces.length === 0) return 0;
    if (this.#vocabulary.isFull) this.#vocabulary = new Vocabulary();
    const write = (file: number): void => buildSegment(archive, pieces, file, this.#vocabulary);
    if (!(await this.#make(place, archive, write))) return 0;
    await this.#mergeAround(place, archive);
    return pieces.length;
  }

  /** Does the merges that a killed process left undone. */
  async mergeAll(archive: Archive): Promise<boolean> {
    for (const held of this.#held)
      if (held.first % lengthOf({ level: held.level + 1 }) === 0) await this.#mergeAround(held, archive);
    return true;
  }

  /**
   * Makes one segment of those before the newest piece, from the first piece on: a search opens and reads each, and the
   * newest piece of a book is another one in its next edition.
   */
  async join(archive: Archive): Promise<void> {
    const last = archive.pieces.length - 1;
    const inputs = this.#held.filter((held) => held.first + lengthOf(held) <= last);
    if (inputs.length > 1 && this.missing(archive.pieces).length === 0)
      await this.#merge(inputs, { first: 0, level: JOINED }, archive);
  }

  /** Removes a segment that is damaged or does not belong to its pieces. */
  discard(segment: Segment): void {
    const held = this.#held.find((one) => one.segment === segment);
    if (held === undefined) return;
    this.#held = this.#held.filter((one) => one !== held);
    this.#drop(held, true);
  }

  /** Removes the folders of conversations that no longer exist, and leftovers of killed processes. */
  removeOrphans(): void {
    for (const name of namesIn(this.#root)) {
      if (join(this.#root, name) !== this.#folder) removeSegments(join(this.#root, name));
    }
    removeLeftovers(this.#folder, /\.seg$/);
  }

  /** Removes the whole index of the conversation. */
  clear(): void {
    this.close();
    removeSegments(this.#folder);
  }

  close(): void {
    for (const { segment } of this.#held) segment.close();
    this.#held = [];
  }

  async #mergeAround(place: Place, archive: Archive): Promise<void> {
    for (let { level } = place; level < LEVELS; level += 1) {
      const length = lengthOf({ level: level + 1 });
      const first = Math.floor(place.first / length) * length;
      const inputs = this.#held.filter((held) => held.level === level && overlap(held, { first, level: level + 1 }));
      if (inputs.length < FACTOR) return;
      if (!(await this.#merge(inputs, { first, level: level + 1 }, archive))) return;
    }
  }

  /** Replaces segments by one. False if they cannot be merged. */
  async #merge(inputs: readonly Held[], place: Place, archive: Archive): Promise<boolean> {
    try {
      const segments = inputs.map(({ segment }) => segment);
      if (!(await this.#make(place, archive, (file) => mergeSegments(segments, file)))) return false;
    } catch (thrown) {
      if (!(thrown instanceof DamagedSegment)) throw thrown;
      // It is unknown which one is damaged, so all are rebuilt.
      for (const { segment } of inputs) this.discard(segment);
      return false;
    }
    for (const input of inputs) {
      input.segment.close();
      if (nameOf(input) !== nameOf(place)) this.#remove(nameOf(input));
    }
    return true;
  }

  /** Writes a segment, which replaces those that it covers. False if the conversation has changed. */
  async #make(place: Place, archive: Archive, write: (file: number) => void): Promise<boolean> {
    const path = join(this.#folder, nameOf(place));
    if (!(await writeIndexFile(path, archive, write))) return false;
    const made = { ...place, segment: Segment.open(path) };
    const kept = this.#held.filter((held) => !overlap(held, made));
    this.#held = [...kept, made].sort((one, other) => one.first - other.first);
    return true;
  }

  #open(place: Place, writes: boolean): Held | null {
    const path = join(this.#folder, nameOf(place));
    try {
      return { ...place, segment: Segment.open(path) };
    } catch (thrown) {
      // Another process may have just merged it.
      if (thrown instanceof DamagedSegment || thrown instanceof SyntaxError) {
        if (writes) this.#remove(nameOf(place));
      } else if (systemCode(thrown) === null) throw thrown;
      return null;
    }
  }

  #drop({ segment, ...place }: Held, writes: boolean): void {
    segment.close();
    if (writes) this.#remove(nameOf(place));
  }

  #remove(name: string): void {
    rmSync(join(this.#folder, name), { force: true });
  }
}

function overlap(one: Place, other: Place): boolean {
  return one.first < other.first + lengthOf(other) && other.first < one.first + lengthOf(one);
}

const nameOf = ({ first, level }: Place): string => `${first}-${level}.seg`;

function placeIn(name: string): readonly Place[] {
  const [, first, level] = NAME.exec(name) ?? [];
  if (first === undefined || level === undefined) return [];
  const place = { first: Number(first), level: Number(level) };
  const isPlace =
    place.level === JOINED ? place.first === 0 : place.level < JOINED && place.first % lengthOf(place) === 0;
  return isPlace && nameOf(place) === name ? [place] : [];
}

/** A safe folder name. The name of a conversation comes from its file, which may contain anything. */
function folderName(log: string): string {
  return /^[\w-]{1,64}$/.test(log) ? log : createHash('sha256').update(log).digest('hex').slice(0, 32);
}

/** Merges consecutive segments into one. Reads them once, word by word. Throws `DamagedSegment`. */
function mergeSegments(segments: readonly Segment[], file: number): void {
  const writer = new SegmentWriter(file);
  const starts = sumsBefore(segments.map(({ count }) => count));
  const cursors = segments.map((segment) => segment.words());
  const heads: (IndexedWord | null)[] = cursors.map((cursor) => cursor.next().value ?? null);
  const lists = new FrequencyLists();
  for (;;) {
    let word: string | null = null;
    for (const head of heads) if (head !== null && (word === null || head.word < word)) word = head.word;
    if (word === null) break;
    lists.clear();
    for (const [index, head] of heads.entries()) {
      if (head === null || head.word !== word) continue;
      const start = starts[index] ?? 0;
      head.postings.addTo(lists, start);
      heads[index] = cursors[index]?.next().value ?? null;
    }
    writer.add(word, lists);
  }
  const columns = segments.map((segment) => segment.columns());
  const spots = sumsBefore(columns.map((one) => one.spots.length));
  writer.finish({
    columns,
    pieces: segments.flatMap(({ pieces }, index) => {
      return pieces.all().map((piece) => moved(piece, starts[index] ?? 0, spots[index] ?? 0));
    }),
    undone: segments.flatMap(({ undone }) => undone),
  });
}

/** For each number, the sum of the previous ones. */
function sumsBefore(numbers: readonly number[]): readonly number[] {
  let sum = 0;
  return numbers.map((number) => {
    sum += number;
    return sum - number;
  });
}

function moved(piece: IndexedPiece, documents: number, spots: number): IndexedPiece {
  return { ...piece, document: piece.document + documents, spots: piece.spots + spots };
}

/** Matches the files of an index folder, and the leftovers of killed processes. */
const SEGMENT_FILES = namesWithLeftovers('(?:(?:\\d+-\\d|tail-\\d+)\\.seg|threshold\\.json)');

/** Removes the segments of a conversation, and their folder if it contains nothing else. */
function removeSegments(folder: string): void {
  removeFiles(folder, SEGMENT_FILES);
  removeEmptyFolder(folder);
}

/** Removes the index of every conversation. */
export function removeIndex(root: string): void {
  for (const name of namesIn(root)) removeSegments(join(root, name));
  removeEmptyFolder(root);
}
