import type { Postings } from '../index/part.js';
import { PageWriter } from './pages.js';

/** The version of the format, and of what words a text has: a segment of another one is made anew. */
export const SEGMENT_VERSION = 2;

/** A block of the dictionary is about so long: it is read and walked to find one word. */
const BLOCK = 2048;

/** By document, in columns. */
export interface Columns {
  readonly kinds: Uint8Array;
  readonly lengths: Uint8Array;
  readonly days: Uint16Array;
  /** Where each begins in the content of its piece. */
  readonly places: Uint32Array;
}

/** A piece of the archive: see `Piece`, and the id of its first message and the number of its first document. */
export interface IndexedPiece {
  readonly offset: number;
  readonly size: number;
  readonly content: number;
  readonly id: number;
  readonly document: number;
}

/** What is left to say once the words are written. */
export interface SegmentBody {
  readonly columns: readonly Columns[];
  readonly pieces: readonly IndexedPiece[];
  /** The turns that entries of these pieces took back. */
  readonly undone: readonly number[];
}

/** Writes a segment: word after word in the order of their bytes, then what is known of the documents. */
export class SegmentWriter {
  readonly #pages: PageWriter;
  readonly #blocks: Buffer[] = [];
  readonly #index: Buffer[] = [];
  #block: number[] = [];
  #last = '';
  #dictionary = 0;

  constructor(file: number) {
    this.#pages = new PageWriter(file);
  }

  /** `word` is in UTF-8, read as Latin-1, so that texts compare as their bytes do. */
  add(word: string, { count, bytes }: Postings): void {
    if (this.#block.length >= BLOCK) this.#endBlock();
    if (this.#block.length === 0) this.#beginBlock(word);
    const shared = this.#block.length === 0 ? 0 : sharedLength(this.#last, word);
    pushNumber(this.#block, shared);
    pushNumber(this.#block, word.length - shared);
    for (let at = shared; at < word.length; at += 1) this.#block.push(word.charCodeAt(at));
    pushNumber(this.#block, count);
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
    section(this.#index);
    section(columns.map(({ kinds }) => kinds));
    section(columns.map(({ lengths }) => lengths));
    section(columns.map(({ days }) => bytesOf(days)));
    section(columns.map(({ places }) => placeBytes(places)));
    section([
      bytesOf(
        Float64Array.from(
          pieces.flatMap(({ offset, size, content, id, document }) => [offset, size, content, id, document]),
        ),
      ),
    ]);
    section([bytesOf(Float64Array.from(undone))]);
    const documents = columns.reduce((sum, { kinds }) => sum + kinds.length, 0);
    this.#pages.finish({ version: SEGMENT_VERSION, documents, starts, end: this.#pages.length });
  }

  #beginBlock(word: string): void {
    const entry = Buffer.alloc(12 + word.length);
    entry.writeUInt32LE(this.#dictionary, 0);
    entry.writeUIntLE(this.#pages.length, 4, 6);
    entry.writeUInt16LE(word.length, 10);
    entry.write(word, 12, 'latin1');
    this.#index.push(entry);
    this.#last = '';
  }

  #endBlock(): void {
    const bytes = Buffer.from(this.#block);
    this.#blocks.push(bytes);
    this.#dictionary += bytes.length;
    this.#block = [];
  }
}

/** Three bytes for each; the last number says that it is larger. */
export const PLACE_BYTES = 3;
export const FAR = 0xffffff;

function placeBytes(places: Uint32Array): Buffer {
  const bytes = Buffer.alloc(PLACE_BYTES * places.length);
  places.forEach((place, index) => {
    bytes.writeUIntLE(Math.min(place, FAR), index * PLACE_BYTES, PLACE_BYTES);
  });
  return bytes;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
