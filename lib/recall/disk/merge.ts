import { FrequencyLists } from '../index/postings.js';
import type { IndexedWord, Segment } from './segment.js';
import { type IndexedPiece, SegmentWriter } from './segment-writer.js';

/** Merges consecutive segments into one. Reads them once, word by word. Throws `DamagedSegment`. */
export function mergeSegments(segments: readonly Segment[], file: number): void {
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
