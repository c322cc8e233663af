import { decodePostings, PostingsWriter } from '../index/postings.js';
import type { Segment } from './segment.js';
import { type IndexedPiece, SegmentWriter } from './segment-writer.js';

/** Writes one segment that has all that these have, one after another. Reads them once, word by word. Throws `DamagedSegment`. */
export function mergeSegments(segments: readonly Segment[], file: number): void {
  const writer = new SegmentWriter(file);
  const starts = startsOf(segments);
  const cursors = segments.map((segment) => segment.words());
  const heads = cursors.map((cursor) => cursor.next().value ?? null);
  for (;;) {
    let word: string | null = null;
    for (const head of heads) if (head !== null && (word === null || head.word < word)) word = head.word;
    if (word === null) break;
    const postings = new PostingsWriter(64);
    for (const [index, head] of heads.entries()) {
      if (head === null || head.word !== word) continue;
      const start = starts[index] ?? 0;
      decodePostings(head.bytes, (document, code) => postings.addCoded(start + document, code));
      heads[index] = cursors[index]?.next().value ?? null;
    }
    writer.add(word, postings);
  }
  writer.finish({
    columns: segments.map((segment) => segment.columns()),
    pieces: segments.flatMap(({ pieces }, index) => pieces.map((piece) => moved(piece, starts[index] ?? 0))),
    undone: segments.flatMap(({ undone }) => undone),
  });
}

function startsOf(segments: readonly Segment[]): readonly number[] {
  let start = 0;
  return segments.map(({ count }) => {
    start += count;
    return start - count;
  });
}

function moved(piece: IndexedPiece, by: number): IndexedPiece {
  return { ...piece, document: piece.document + by };
}
