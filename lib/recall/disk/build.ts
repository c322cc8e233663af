import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Entry, isMessage } from '../../chat/entry.js';
import { HeldEntries } from '../../chat/entry-list.js';
import { AsideFile, makeFolder, namesIn } from '../../disk.js';
import { systemCode } from '../../errors.js';
import { Collector, type Vocabulary } from '../index/collector.js';
import { type Archive, documentOf, KindReader, type Piece } from '../index/documents.js';
import { FrequencyLists } from '../index/part.js';
import { asBytes, inOrder } from './dictionary.js';
import { DamagedSegment, packSpots, type Spot } from './pages.js';
import { Segment } from './segment.js';
import { type IndexedPiece, type SegmentBody, SegmentWriter } from './segment-writer.js';

/** Writes the segment of consecutive pieces. The result is deterministic. Throws read errors. */
export function buildSegment(archive: Archive, pieces: readonly Piece[], file: number, vocabulary?: Vocabulary): void {
  const collector = new Collector(vocabulary);
  const spots: Uint8Array[] = [];
  const undone: number[] = [];
  const indexed: IndexedPiece[] = [];
  let length = 0;
  for (const piece of pieces) {
    const { offset, size, content } = piece;
    indexed.push({ offset, size, content, document: collector.count, spots: length });
    const own: Spot[] = [];
    const reader = new KindReader();
    for (const { entry, place } of archive.read(piece)) {
      for (const turn of changesOfUndone(entry)) undone.push(turn);
      const document = isMessage(entry) ? documentOf(entry, reader.kindOf(entry)) : null;
      if (document === null) continue;
      collector.add(document);
      own.push({ id: entry.id, place });
    }
    const packed = packSpots(own);
    spots.push(packed);
    length += packed.length;
  }
  writeDocuments(collector, Buffer.concat(spots), { pieces: indexed, undone }, file);
}

/** Writes a segment of documents in memory, with their packed spots. The result is deterministic. */
export function writeDocuments(
  collector: Collector,
  spots: Uint8Array,
  about: Pick<SegmentBody, 'pieces' | 'undone'>,
  file: number,
): void {
  const writer = new SegmentWriter(file);
  const indexed = Array.from(collector.entries(), ([word, postings]) => ({ word: asBytes(word), postings }));
  const lists = new FrequencyLists();
  for (const { word, postings } of inOrder(indexed)) {
    lists.clear();
    postings.addTo(lists);
    writer.add(word, lists);
  }
  const columns = { kinds: collector.kinds(), lengths: collector.lengths(), days: collector.days() };
  writer.finish({ ...about, columns: [{ ...columns, spots }] });
}

/** The turns that an entry undoes, and as negative numbers those that it redoes. */
export function changesOfUndone(entry: Entry): readonly number[] {
  if (!('type' in entry)) return [];
  if (entry.type === 'undo') return entry.turns;
  return entry.type === 'redo' ? entry.turns.map((turn) => -turn) : [];
}

/** The undone turns after all these changes, applied in order. */
export function undoneAfter(changes: Iterable<number>): ReadonlySet<number> {
  const undone = new Set<number>();
  for (const turn of changes) {
    if (turn < 0) undone.delete(-turn);
    else undone.add(turn);
  }
  return undone;
}

const NAME = /^tail-(\d+)\.seg$/;

/** Opens the stored index of the first of these unsealed entries; null if there is none, or it is of other ones. */
export function openTailFile(folder: string, entries: readonly Entry[]): Segment | null {
  let segment: Segment | null = null;
  try {
    segment = Segment.open(join(folder, nameFrom(entries[0]?.id ?? 0)));
    if (isOf(segment, entries.slice(0, coveredBy(segment)))) return segment;
  } catch (thrown) {
    if (!(thrown instanceof DamagedSegment || thrown instanceof SyntaxError) && systemCode(thrown) === null)
      throw thrown;
  }
  segment?.close();
  return null;
}

/** Whether it is the index of exactly these entries, by their content, and names only messages among them. */
function isOf(segment: Segment, covered: readonly Entry[]): boolean {
  const { count, sum } = HeldEntries.of(covered);
  if (count === 0 || coveredBy(segment) !== count || segment.pieces.at(0)?.content !== sum) return false;
  const known = new Set(covered.filter(isMessage).map(({ id }) => id));
  const ids = segment.ids();
  return ids.length === segment.count && ids.every((id) => known.has(id));
}

/** The number of entries in the index. */
export const coveredBy = ({ pieces }: Segment): number => pieces.at(0)?.size ?? 0;

/**
 * What a file is the index of: the entries that were indexed, from `first` on, and the messages that are its documents.
 */
interface IndexedTail {
  readonly first: number;
  readonly held: HeldEntries;
  readonly ids: readonly number[];
  readonly collector: Collector;
}

/**
 * Writes the index of unsealed entries. False if the conversation has changed. Throws system errors and a `HiError`.
 */
export async function writeTailFile(
  folder: string,
  { first, held, ids, collector }: IndexedTail,
  archive: Pick<Archive, 'ifCurrent'>,
): Promise<boolean> {
  const about = { offset: first, size: held.count, content: held.sum, document: 0, spots: 0 };
  const spots = packSpots(ids.map((id) => ({ id, place: 0 })));
  const write = (file: number): void => writeDocuments(collector, spots, { pieces: [about], undone: [] }, file);
  return await writeIndexFile(join(folder, nameFrom(first)), archive, write);
}

/** Whether there are any. */
export const hasTailFiles = (folder: string): boolean => namesIn(folder).some((name) => NAME.test(name));

/** Removes the files that do not begin with one of these entries. */
export function removeOtherTailFiles(folder: string, firsts: readonly number[]): void {
  const kept = new Set(firsts.map(nameFrom));
  for (const name of namesIn(folder))
    if (NAME.test(name) && !kept.has(name)) rmSync(join(folder, name), { force: true });
}

const nameFrom = (first: number): string => `tail-${first}.seg`;

/**
 * Writes a file of the index that `write` derives from the archive, aside, and renames it. False, and nothing is left,
 * if the conversation has changed: `write` may take long, so it does not hold the lock, but the file is created and
 * renamed under it. What removes messages under the lock removes the unfinished file as well, and no later one has
 * their words. Throws system errors and a `HiError`.
 */
export async function writeIndexFile(
  path: string,
  archive: Pick<Archive, 'ifCurrent'>,
  write: (file: number) => void,
): Promise<boolean> {
  const made: AsideFile[] = [];
  const open = (): void => {
    makeFolder(dirname(path), 0o700);
    made.push(new AsideFile(path, { mode: 0o600 }));
  };
  try {
    if (!(await archive.ifCurrent(open))) return false;
    for (const { descriptor } of made.slice(-1)) write(descriptor);
    // Not flushed: a file damaged by a power cut will be detected and rebuilt.
    return await archive.ifCurrent(() => made.at(-1)?.commit(false));
  } finally {
    for (const aside of made) aside.discard();
  }
}
