import { closeSync, openSync } from 'node:fs';
import type { IndexPart, Postings } from '../index/part.js';
import { DamagedSegment, Pages } from './pages.js';
import { type Columns, FAR, type IndexedPiece, PLACE_BYTES, SEGMENT_VERSION } from './segment-writer.js';

/** Where the sections of a segment begin, in the order they are written. */
interface Sections {
  readonly dictionary: number;
  readonly index: number;
  readonly kinds: number;
  readonly lengths: number;
  readonly days: number;
  readonly places: number;
  readonly pieces: number;
  readonly undone: number;
  readonly end: number;
}

/** A block of the dictionary: its first word, where it begins there and where the postings of its words begin. */
interface Block {
  readonly word: string;
  readonly start: number;
  readonly postings: number;
}

/** So much of the postings is read at once where all of them are. */
const AHEAD = 64 * 1024;

/** A word as a segment has it. */
interface SegmentWord {
  readonly word: string;
  readonly count: number;
  /** Where its postings are. */
  readonly start: number;
  readonly length: number;
}

/** An immutable piece of the index on disk. Everything it reads is checked: any method may throw `DamagedSegment`. */
export class Segment implements IndexPart {
  readonly path: string;
  readonly #file: number;
  readonly #pages: Pages;
  readonly #sections: Sections;
  readonly #blocks: readonly Block[];
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly lengths: Uint8Array;
  readonly pieces: readonly IndexedPiece[];
  readonly undone: readonly number[];

  private constructor(path: string, file: number) {
    this.path = path;
    this.#file = file;
    this.#pages = new Pages(file);
    const { documents, sections } = readFooter(this.#pages.footer);
    this.#sections = sections;
    this.count = documents;
    this.kinds = this.#pages.read(sections.kinds, documents);
    this.lengths = this.#pages.read(sections.lengths, documents);
    this.#blocks = blocksIn(this.#pages.read(sections.index, sections.kinds - sections.index));
    this.pieces = piecesIn(this.#numbers(sections.pieces, sections.undone));
    this.undone = this.#numbers(sections.undone, sections.end);
  }

  /** Throws `DamagedSegment`, and what the system throws. */
  static open(path: string): Segment {
    const file = openSync(path, 'r');
    try {
      return new Segment(path, file);
    } catch (thrown) {
      closeSync(file);
      throw thrown;
    }
  }

  days(): Uint16Array {
    const bytes = this.#pages.read(this.#sections.days, 2 * this.count);
    return new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  }

  /** Where a document begins in the content of its piece; null when that is too far away to be told. */
  place(document: number): number | null {
    const place = this.#pages
      .read(this.#sections.places + PLACE_BYTES * document, PLACE_BYTES)
      .readUIntLE(0, PLACE_BYTES);
    return place === FAR ? null : place;
  }

  /** Everything that is known of the documents but their words. */
  columns(): Columns {
    const bytes = this.#pages.read(this.#sections.places, PLACE_BYTES * this.count);
    const places = Uint32Array.from({ length: this.count }, (_, index) =>
      bytes.readUIntLE(PLACE_BYTES * index, PLACE_BYTES),
    );
    return { kinds: this.kinds, lengths: this.lengths, days: this.days(), places };
  }

  find(word: string): Postings | null {
    const wanted = asBytes(word);
    const block = lastUpTo(this.#blocks, wanted);
    for (const found of this.#wordsIn(block)) {
      if (found.word === wanted) return { count: found.count, bytes: this.#pages.read(found.start, found.length) };
      if (found.word > wanted) break;
    }
    return null;
  }

  beginningWith(start: string, limit: number): readonly string[] {
    const wanted = asBytes(start);
    const found: string[] = [];
    for (let block = Math.max(0, lastUpTo(this.#blocks, wanted)); block < this.#blocks.length; block += 1) {
      for (const { word } of this.#wordsIn(block)) {
        if (word.startsWith(wanted)) found.push(Buffer.from(word, 'latin1').toString());
        else if (word > wanted) return found;
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  /** All words in the order of their bytes, with their documents. Reads ahead. */
  *words(): Generator<{ readonly word: string } & Postings> {
    let [from, held]: [number, Uint8Array] = [0, new Uint8Array()];
    for (let block = 0; block < this.#blocks.length; block += 1) {
      for (const { word, count, start, length } of this.#wordsIn(block)) {
        if (start + length > from + held.length) {
          from = start;
          held = this.#pages.read(start, Math.min(Math.max(length, AHEAD), this.#sections.dictionary - start));
        }
        yield { word, count, bytes: held.subarray(start - from, start - from + length) };
      }
    }
  }

  /** Reads all of it and tells whether it is what was written. */
  isSound(): boolean {
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

  *#wordsIn(index: number): Generator<SegmentWord> {
    const block = this.#blocks[index];
    if (block === undefined) return;
    const { dictionary, index: end } = this.#sections;
    const next = this.#blocks[index + 1]?.start ?? end - dictionary;
    const bytes = this.#pages.read(dictionary + block.start, next - block.start);
    const numbers = new NumberReader(bytes);
    let word = '';
    for (let start = block.postings; numbers.at < bytes.length; ) {
      const shared = numbers.next();
      const length = numbers.next();
      word = word.slice(0, shared) + bytes.toString('latin1', numbers.at, numbers.at + length);
      numbers.at += length;
      const count = numbers.next();
      const size = numbers.next();
      yield { word, count, start, length: size };
      start += size;
    }
  }

  #numbers(start: number, end: number): readonly number[] {
    const bytes = this.#pages.read(start, end - start);
    return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(8 * index));
  }
}

/** A word in UTF-8, read as Latin-1: such texts compare as the bytes do. */
export function asBytes(word: string): string {
  return Buffer.from(word).toString('latin1');
}

class NumberReader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}

function readFooter(footer: object): { readonly documents: number; readonly sections: Sections } {
  if (!('version' in footer && 'documents' in footer && 'starts' in footer && 'end' in footer)) throw unknown();
  const { version, documents, starts, end } = footer;
  if (version !== SEGMENT_VERSION || typeof documents !== 'number' || typeof end !== 'number' || !Array.isArray(starts))
    throw unknown();
  const [dictionary, index, kinds, lengths, days, places, pieces, undone]: readonly number[] = starts.map(Number);
  return {
    documents,
    sections: {
      dictionary: dictionary ?? 0,
      index: index ?? 0,
      kinds: kinds ?? 0,
      lengths: lengths ?? 0,
      days: days ?? 0,
      places: places ?? 0,
      pieces: pieces ?? 0,
      undone: undone ?? 0,
      end,
    },
  };
}

const unknown = (): DamagedSegment => new DamagedSegment('The segment is of another version.');

function blocksIn(bytes: Buffer): readonly Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt16LE(at + 10);
    const word = bytes.toString('latin1', at + 12, at + 12 + length);
    blocks.push({ word, start: bytes.readUInt32LE(at), postings: bytes.readUIntLE(at + 4, 6) });
    at += 12 + length;
  }
  return blocks;
}

function piecesIn(numbers: readonly number[]): readonly IndexedPiece[] {
  return Array.from({ length: numbers.length / 5 }, (_, index) => {
    const [offset = 0, size = 0, content = 0, id = 0, document = 0] = numbers.slice(5 * index, 5 * index + 5);
    return { offset, size, content, id, document };
  });
}

/** The last block that begins with that word or before it, -1 for none. */
function lastUpTo(blocks: readonly Block[], word: string): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle]?.word ?? '') <= word) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
