import { type Entry, isMessage } from '../../chat/entry.js';
import type { Archive, Piece } from '../index/archive.js';
import { Collector } from '../index/collector.js';
import { documentOf } from '../index/documents.js';
import { KindReader } from '../index/kind-reader.js';
import { FrequencyLists } from '../index/postings.js';
import type { Vocabulary } from '../index/vocabulary.js';
import { asBytes } from './dictionary.js';
import { packSpots, type Spot } from './packed-columns.js';
import { type SegmentBody, SegmentWriter } from './segment-writer.js';
import { inOrder } from './word-order.js';

/** Writes the segment of one piece. The result is deterministic. Throws read errors. */
export function buildSegment(archive: Archive, piece: Piece, file: number, vocabulary?: Vocabulary): void {
  const collector = new Collector(vocabulary);
  const spots: Spot[] = [];
  const undone: number[] = [];
  const reader = new KindReader();
  for (const { entry, place } of archive.read(piece)) {
    for (const turn of changesOfUndone(entry)) undone.push(turn);
    const document = isMessage(entry) ? documentOf(entry, reader.kindOf(entry)) : null;
    if (document === null) continue;
    collector.add(document);
    spots.push({ id: entry.id, place });
  }
  const { offset, size, content } = piece;
  writeDocuments(collector, spots, { pieces: [{ offset, size, content, document: 0, spots: 0 }], undone }, file);
}

/** Writes a segment of documents in memory. The result is deterministic. */
export function writeDocuments(
  collector: Collector,
  spots: readonly Spot[],
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
  writer.finish({ ...about, columns: [{ ...columns, spots: packSpots(spots) }] });
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
