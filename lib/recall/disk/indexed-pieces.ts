import type { Piece } from '../index/archive.js';
import { type IndexedPiece, PIECE_NUMBERS } from './segment-writer.js';

/** The pieces that a segment is about, in their stored form. A long conversation has thousands, and a search needs few. */
export class IndexedPieces {
  /** `PIECE_NUMBERS` for each piece. */
  readonly #numbers: Float64Array;
  readonly count: number;

  constructor(numbers: Float64Array) {
    this.#numbers = numbers;
    this.count = numbers.length / PIECE_NUMBERS;
  }

  /** Whether these are exactly the `count` pieces from `first` on. */
  are(pieces: readonly Piece[], first: number, count: number): boolean {
    if (this.count !== count || first + count > pieces.length) return false;
    const numbers = this.#numbers;
    for (let index = 0, at = 0; index < count; index += 1, at += PIECE_NUMBERS) {
      const piece = pieces[first + index];
      if (piece?.offset !== numbers[at] || piece?.size !== numbers[at + 1] || piece?.content !== numbers[at + 2])
        return false;
    }
    return true;
  }

  /** Null for a piece that does not exist. */
  at(index: number): IndexedPiece | null {
    if (index < 0 || index >= this.count) return null;
    const number = (place: number): number => this.#numbers[PIECE_NUMBERS * index + place] ?? 0;
    return { offset: number(0), size: number(1), content: number(2), document: number(3), spots: number(4) };
  }

  all(): readonly IndexedPiece[] {
    return Array.from({ length: this.count }, (_, index) => index).flatMap((index) => this.at(index) ?? []);
  }

  /** The index of the piece that contains the document. */
  holding(document: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#numbers[PIECE_NUMBERS * middle + 3] ?? 0) <= document) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
