import { type Entry, isMessage } from '../../chat/message.js';
import type { Archive, Piece } from '../index/archive.js';
import { Collector } from '../index/collector.js';
import { documentOf } from '../index/documents.js';
import { KindReader } from '../index/kind-reader.js';
import { asBytes } from './segment.js';
import { SegmentWriter } from './segment-writer.js';

/** Writes the segment of one piece. The same piece makes the same bytes. Throws what reading the piece throws. */
export function buildSegment(archive: Archive, piece: Piece, file: number): void {
  const collector = new Collector();
  const places: number[] = [];
  const undone: number[] = [];
  const reader = new KindReader();
  let id = 0;
  for (const { entry, place } of archive.read(piece)) {
    id = id === 0 ? entry.id : id;
    for (const turn of turnsUndoneBy(entry)) undone.push(turn);
    const document = isMessage(entry) ? documentOf(entry, reader.kindOf(entry)) : null;
    if (document === null) continue;
    collector.add(document);
    places.push(place);
  }
  const writer = new SegmentWriter(file);
  const sorted = Array.from(collector.entries(), ([word, postings]) => ({ word: asBytes(word), postings }));
  sorted.sort((one, other) => (one.word < other.word ? -1 : 1));
  for (const { word, postings } of sorted) writer.add(word, postings);
  const { offset, size, content } = piece;
  writer.finish({
    columns: [
      { kinds: collector.kinds, lengths: collector.lengths, days: collector.days(), places: Uint32Array.from(places) },
    ],
    pieces: [{ offset, size, content, id, document: 0 }],
    undone,
  });
}

/** The turns that an entry takes back. */
export function turnsUndoneBy(entry: Entry): readonly number[] {
  return 'type' in entry && entry.type === 'undo' ? entry.turns : [];
}
