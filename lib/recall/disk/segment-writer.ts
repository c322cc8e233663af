import { countsOf, type FrequencyLists, KINDS, wordsIn } from '../index/part.js';
import { type Block, packBlocks } from './dictionary.js';
import { PostingsPacker } from './packed-postings.js';
import { PageWriter, packDays, pushNumber } from './pages.js';

/** The version of the format and of the word splitting. Segments of other versions are rebuilt. */
export const SEGMENT_VERSION = 9;

/** The approximate size of a block of the dictionary, which is read and searched to find one word. */
const BLOCK = 256;

/** The data of documents, in columns. */
export interface Columns {
  readonly kinds: Uint8Array;
  readonly lengths: Uint8Array;
  readonly days: Uint16Array;
  /** Piece after piece, see `packSpots`. */
  readonly spots: Uint8Array;
}

/** A piece of the archive (see `Piece`), with the number of its first document and the offset of its spots. */
export interface IndexedPiece {
  readonly offset: number;
  readonly size: number;
  readonly content: number;
  readonly document: number;
  readonly spots: number;
}

/** The count of numbers stored for each piece. */
export const PIECE_NUMBERS = 5;

/** The part of a segment after its words. */
export interface SegmentBody {
  readonly columns: readonly Columns[];
  readonly pieces: readonly IndexedPiece[];
  /** The turns that entries of these pieces undid. */
  readonly undone: readonly number[];
}

/** Writes a segment: the words in byte order, then the data of the documents. */
export class SegmentWriter {
  readonly #pages: PageWriter;
  readonly #packer = new PostingsPacker();
  readonly #blocks: Buffer[] = [];
  readonly #index: Block[] = [];
  #block: number[] = [];
  #last = '';
  #dictionary = 0;

  constructor(file: number) {
    this.#pages = new PageWriter(file);
  }

  /** `word` is the result of `asBytes`. */
  add(word: string, lists: FrequencyLists): void {
    if (this.#block.length >= BLOCK) this.#endBlock();
    if (this.#block.length === 0) this.#beginBlock(word);
    const shared = this.#block.length === 0 ? 0 : sharedLength(this.#last, word);
    pushNumber(this.#block, shared);
    pushNumber(this.#block, word.length - shared);
    for (let at = shared; at < word.length; at += 1) this.#block.push(word.charCodeAt(at));
    const bytes = this.#packer.pack(lists);
    pushNumber(this.#block, lists.count);
    pushNumber(this.#block, bytes.length);
    this.#last = word;
    this.#pages.write(bytes);
  }

  finish({ columns, pieces, undone }: SegmentBody): void {
    if (this.#block.length > 0) this.#endBlock();
    const starts: number[] = [];
    const section = (parts: Iterable<Uint8Array>): void => {
      starts.push(this.#pages.length);
      for (const part of parts) this.#pages.write(part);
    };
    section(this.#blocks);
    section([packBlocks(this.#index)]);
    section(columns.map(({ kinds }) => kinds));
    section(columns.map(({ lengths }) => lengths));
    section([packDays(Uint16Array.from(columns.flatMap(({ days }) => [...days])))]);
    section(columns.map(({ spots }) => spots));
    section([bytesOf(Float64Array.from(pieces.flatMap(numbersOf)))]);
    section([bytesOf(Float64Array.from(undone))]);
    const documents = columns.reduce((sum, { kinds }) => sum + kinds.length, 0);
    const words = columns.reduce((sum, { lengths }) => sum + wordsIn(lengths), 0);
    const counts = columns.map((column) => countsOf(column.kinds));
    const kinds = KINDS.map((_, kind) => counts.reduce((sum, one) => sum + (one[kind] ?? 0), 0));
    this.#pages.finish({ version: SEGMENT_VERSION, documents, words, kinds, starts, end: this.#pages.length });
  }

  #beginBlock(word: string): void {
    this.#index.push({ word, start: this.#dictionary, postings: this.#pages.length });
    this.#last = '';
  }

  #endBlock(): void {
    const bytes = Buffer.from(this.#block);
    this.#blocks.push(bytes);
    this.#dictionary += bytes.length;
    this.#block = [];
  }
}

function numbersOf({ offset, size, content, document, spots }: IndexedPiece): readonly number[] {
  return [offset, size, content, document, spots];
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}
