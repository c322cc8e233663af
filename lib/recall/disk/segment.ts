import { closeSync, openSync } from 'node:fs';
import type { Piece } from '../index/documents.js';
import type { Arena, DocumentList, IndexPart, Postings } from '../index/part.js';
import { Dictionary, type SegmentWord } from './dictionary.js';
import { PackedPostings, SLACK } from './packed-postings.js';
import { DamagedSegment, Pages, type Spot, unpackDays, unpackIds, unpackSpot } from './pages.js';
import { type Columns, type IndexedPiece, PIECE_NUMBERS, SEGMENT_VERSION } from './segment-writer.js';

/** The offsets of the sections of a segment, in file order. */
interface Sections {
  readonly dictionary: number;
  readonly index: number;
  readonly kinds: number;
  readonly lengths: number;
  readonly days: number;
  readonly spots: number;
  readonly pieces: number;
  readonly undone: number;
  readonly end: number;
}

/** The number of bytes read at once when all postings are read. */
const AHEAD = 64 * 1024;

/** A word (see `asBytes`) and its documents, which must be read before the next word. */
export interface IndexedWord {
  readonly word: string;
  readonly postings: PackedPostings;
}

/** An immutable part of the index on disk. It checks everything it reads, so any method may throw `DamagedSegment`. */
export class Segment implements IndexPart {
  readonly path: string;
  readonly #file: number;
  readonly #pages: Pages;
  readonly #sections: Sections;
  readonly #dictionary: Dictionary;
  readonly count: number;
  readonly #words: number;
  readonly #kindCounts: readonly number[];
  readonly pieces: IndexedPieces;
  readonly undone: readonly number[];
  #isOfOther = false;

  private constructor(path: string, file: number) {
    this.path = path;
    this.#file = file;
    this.#pages = new Pages(file);
    const { documents, words, kinds, sections } = readFooter(this.#pages.footer);
    this.#sections = sections;
    this.count = documents;
    this.#words = words;
    this.#kindCounts = kinds;
    this.#dictionary = new Dictionary(this.#pages, sections.dictionary, sections.index, sections.kinds);
    this.pieces = new IndexedPieces(this.#numbers(sections.pieces, sections.undone));
    this.undone = Array.from(this.#numbers(sections.undone, sections.end));
  }

  /** Throws `DamagedSegment` and system errors. */
  static open(path: string): Segment {
    const file = openSync(path, 'r');
    try {
      return new Segment(path, file);
    } catch (thrown) {
      closeSync(file);
      throw thrown;
    }
  }

  kinds(): Uint8Array {
    return this.#look(this.#sections.kinds, this.#sections.lengths);
  }

  lengths(): Uint8Array {
    return this.#look(this.#sections.lengths, this.#sections.days);
  }

  wordCount(): number {
    return this.#words;
  }

  kindCounts(): ArrayLike<number> {
    return this.#kindCounts;
  }

  days(): Uint16Array {
    return unpackDays(this.#look(this.#sections.days, this.#sections.spots), this.count);
  }

  /** The piece and the entry of a document; null for a document that does not exist. */
  spot(document: number): (Spot & { readonly piece: IndexedPiece }) | null {
    const index = this.pieces.holding(document);
    const piece = this.pieces.at(index);
    if (piece === null || document >= this.count) return null;
    const { spots, pieces } = this.#sections;
    const end = this.pieces.at(index + 1)?.spots ?? pieces - spots;
    const bytes = this.#pages.look(spots + piece.spots, end - piece.spots);
    return { piece, ...unpackSpot(bytes, document - piece.document) };
  }

  /** The ids of the documents of a segment with one piece. */
  ids(): readonly number[] {
    return unpackIds(this.#look(this.#sections.spots, this.#sections.pieces));
  }

  /** The data of the documents, without their words. */
  columns(): Columns {
    const { kinds, lengths, days, spots, pieces } = this.#sections;
    return {
      kinds: this.#section(kinds, lengths),
      lengths: this.#section(lengths, days),
      days: this.days(),
      spots: this.#section(spots, pieces),
    };
  }

  find(word: string): Postings | null {
    const found = this.#dictionary.find(word);
    return found === null ? null : new PlacedPostings(this.#pages, found);
  }

  beginningWith(start: string, limit: number): readonly string[] {
    return this.#dictionary.beginningWith(start, limit);
  }

  endingWith(end: string, limit: number): readonly string[] {
    return this.#dictionary.endingWith(end, limit);
  }

  /** All words in byte order, with their documents. Reads ahead. */
  *words(): Generator<IndexedWord, undefined> {
    let [from, held]: [number, Uint8Array] = [0, new Uint8Array()];
    for (const { word, count, start, length } of this.#dictionary.words()) {
      const size = length + SLACK;
      if (start + size > from + held.length) {
        from = start;
        held = this.#pages.read(start, Math.min(Math.max(size, AHEAD), this.#sections.end - start));
      }
      yield { word, postings: new PackedPostings(count, held, start - from) };
    }
  }

  /**
   * Called when a document is not where it should be, although all checksums are right: the segment is of another
   * conversation.
   */
  distrust(): void {
    this.#isOfOther = true;
  }

  /** Reads everything; false if any of it is damaged, or it is of another conversation. */
  isSound(): boolean {
    if (this.#isOfOther) return false;
    try {
      for (let at = 0; at < this.#sections.end; at += AHEAD) {
        this.#pages.read(at, Math.min(AHEAD, this.#sections.end - at));
      }
      return true;
    } catch (thrown) {
      if (!(thrown instanceof DamagedSegment)) throw thrown;
      return false;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #look(start: number, end: number): Buffer {
    return this.#pages.look(start, end - start);
  }

  #section(start: number, end: number): Buffer {
    return this.#pages.read(start, end - start);
  }

  #numbers(start: number, end: number): Float64Array {
    // Copied, because a Float64Array must be aligned.
    return new Float64Array(new Uint8Array(this.#look(start, end)).buffer);
  }
}

/** The documents of a word, read on demand. */
class PlacedPostings implements Postings {
  readonly count: number;
  readonly #pages: Pages;
  readonly #start: number;
  readonly #length: number;

  constructor(pages: Pages, { count, start, length }: SegmentWord) {
    this.count = count;
    this.#pages = pages;
    this.#start = start;
    this.#length = length;
  }

  lists(arena: Arena): readonly DocumentList[] {
    const start = this.#pages.readInto(arena, this.#start, this.#length + SLACK);
    return new PackedPostings(this.count, arena.bytes, start).lists();
  }
}

interface Footer {
  readonly documents: number;
  readonly words: number;
  readonly kinds: readonly number[];
  readonly sections: Sections;
}

function readFooter(footer: object): Footer {
  const { version, documents, words, kinds: counts, starts, end }: Readonly<Record<string, unknown>> = { ...footer };
  const areNumbers = typeof documents === 'number' && typeof words === 'number' && typeof end === 'number';
  if (version !== SEGMENT_VERSION || !areNumbers || !Array.isArray(starts) || !Array.isArray(counts)) throw unknown();
  const [dictionary, index, kinds, lengths, days, spots, pieces, undone]: readonly number[] = starts.map(Number);
  return {
    documents,
    words,
    kinds: counts.map(Number),
    sections: {
      dictionary: dictionary ?? 0,
      index: index ?? 0,
      kinds: kinds ?? 0,
      lengths: lengths ?? 0,
      days: days ?? 0,
      spots: spots ?? 0,
      pieces: pieces ?? 0,
      undone: undone ?? 0,
      end,
    },
  };
}

const unknown = (): DamagedSegment => new DamagedSegment('The segment has another version.');

/**
 * The pieces that a segment is about, in their stored form. A long conversation has thousands, and a search needs few.
 */
class IndexedPieces {
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
