import { NumberReader, type Pages } from './pages.js';

/** A word in a segment: its UTF-8 bytes, decoded as Latin-1. */
export interface SegmentWord {
  readonly word: string;
  /** The number of documents that contain it. */
  readonly count: number;
  /** The offset of its postings. */
  readonly start: number;
  readonly length: number;
}

/** The words of a segment. Only the first word of each block is in memory. */
export class Dictionary {
  readonly #pages: Pages;
  readonly #start: number;
  readonly #end: number;
  readonly #blocks: BlockIndex;

  /** The blocks are between `start` and `end`, and their index between `end` and `indexEnd`. */
  constructor(pages: Pages, start: number, end: number, indexEnd: number) {
    this.#pages = pages;
    this.#start = start;
    this.#end = end;
    this.#blocks = new BlockIndex(pages.read(end, indexEnd - end));
  }

  find(word: string): SegmentWord | null {
    const wanted = encoded(word);
    const block = this.#blocks.lastUpTo(wanted);
    const place = this.#placeOf(block);
    const bytes = this.#pages.look(place.offset, place.length);
    const numbers = new NumberReader(bytes);
    // The number of leading bytes that the wanted word shares with the last one. All words so far are smaller.
    let begun = 0;
    for (let start = this.#blocks.postingsOf(block); !numbers.isAtEnd; ) {
      const shared = numbers.next();
      const length = numbers.next();
      const from = numbers.at;
      numbers.at += length;
      const count = numbers.next();
      const size = numbers.next();
      if (shared < begun) return null;
      if (shared === begun) {
        const same = sharedWith(wanted, begun, bytes, from, length);
        if (begun + same === wanted.length && same === length) return { word, count, start, length: size };
        const isBefore = same === length || (bytes[from + same] ?? 0) < (wanted[begun + same] ?? 0);
        if (!isBefore) return null;
        begun += same;
      }
      start += size;
    }
    return null;
  }

  /** At most `limit` words with this beginning. */
  beginningWith(start: string, limit: number): readonly string[] {
    const wanted = asBytes(start);
    const found: string[] = [];
    for (let block = Math.max(0, this.#blocks.lastUpTo(Buffer.from(start))); block < this.#blocks.count; block += 1) {
      for (const { word } of this.#wordsIn(block)) {
        if (word.startsWith(wanted)) found.push(Buffer.from(word, 'latin1').toString());
        else if (word > wanted) return found;
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  /** At most `limit` words with this ending. */
  endingWith(end: string, limit: number): readonly string[] {
    const wanted = asBytes(end);
    const found: string[] = [];
    for (const { word } of this.words()) {
      if (word.endsWith(wanted)) found.push(Buffer.from(word, 'latin1').toString());
      if (found.length === limit) break;
    }
    return found;
  }

  /** All words in byte order. */
  *words(): Generator<SegmentWord> {
    for (let block = 0; block < this.#blocks.count; block += 1) yield* this.#wordsIn(block);
  }

  *#wordsIn(index: number): Generator<SegmentWord> {
    const place = this.#placeOf(index);
    const bytes = this.#pages.read(place.offset, place.length);
    const numbers = new NumberReader(bytes);
    let word = '';
    for (let start = this.#blocks.postingsOf(index); !numbers.isAtEnd; ) {
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

  #placeOf(index: number): { readonly offset: number; readonly length: number } {
    if (index < 0) return { offset: this.#start, length: 0 };
    const start = this.#blocks.startOf(index);
    const end = index + 1 < this.#blocks.count ? this.#blocks.startOf(index + 1) : this.#end - this.#start;
    return { offset: this.#start + start, length: end - start };
  }
}

let lastWord = '';
let lastBytes: Buffer = Buffer.from(lastWord);

/** A word in UTF-8. The last one is cached, because each segment is asked for the same word. */
function encoded(word: string): Buffer {
  if (word !== lastWord) [lastWord, lastBytes] = [word, Buffer.from(word)];
  return lastBytes;
}

/** The number of bytes that two texts share, from `begun` in the first and `from` in the second. */
function sharedWith(wanted: Uint8Array, begun: number, bytes: Uint8Array, from: number, length: number): number {
  const most = Math.min(length, wanted.length - begun);
  let same = 0;
  while (same < most && wanted[begun + same] === bytes[from + same]) same += 1;
  return same;
}

const PLAIN = /^[\0-\x7f]*$/;

/** The UTF-8 bytes of a word, decoded as Latin-1, so that strings compare like the bytes. */
export function asBytes(word: string): string {
  return PLAIN.test(word) ? word : Buffer.from(word).toString('latin1');
}

/**
 * A block of a dictionary: its first word (see `asBytes`), its offset in the dictionary, and the offset of the postings
 * of its words.
 */
export interface Block {
  readonly word: string;
  readonly start: number;
  readonly postings: number;
}

/**
 * The number of bytes for each block in addition to its word: the offset of its postings, its own offset, that of its
 * word, and the key of the word.
 */
const COLUMNS = 8 + 4 + 4 + 4;

/**
 * Packs the index of blocks in columns, so that nothing is decoded before a lookup. The words follow, then the number
 * of blocks.
 */
export function packBlocks(blocks: readonly Block[]): Uint8Array {
  const words = Buffer.from(blocks.map(({ word }) => word).join(''), 'latin1');
  const packed = Buffer.alloc(COLUMNS * blocks.length + words.length + 4);
  const { postings, starts, places, keys } = columnsIn(packed, blocks.length);
  let place = 0;
  blocks.forEach(({ word, ...block }, index) => {
    postings[index] = block.postings;
    starts[index] = block.start;
    places[index] = place;
    keys[index] = keyOf(Buffer.from(word, 'latin1'));
    place += word.length;
  });
  words.copy(packed, COLUMNS * blocks.length);
  packed.writeUInt32LE(blocks.length, packed.length - 4);
  return packed;
}

interface BlockColumns {
  readonly postings: Float64Array;
  readonly starts: Uint32Array;
  readonly places: Uint32Array;
  readonly keys: Uint32Array;
}

/** Views of bytes that begin in memory where a Float64Array may. */
function columnsIn({ buffer, byteOffset }: Uint8Array, count: number): BlockColumns {
  return {
    postings: new Float64Array(buffer, byteOffset, count),
    starts: new Uint32Array(buffer, byteOffset + 8 * count, count),
    places: new Uint32Array(buffer, byteOffset + 12 * count, count),
    keys: new Uint32Array(buffer, byteOffset + 16 * count, count),
  };
}

/** The first four bytes of a word as a number, so that numbers compare like words that differ there. */
function keyOf(word: Uint8Array): number {
  return (((word[0] ?? 0) << 24) | ((word[1] ?? 0) << 16) | ((word[2] ?? 0) << 8) | (word[3] ?? 0)) >>> 0;
}

/** The index of the blocks of a dictionary, as `packBlocks` packs it. */
export class BlockIndex {
  readonly #columns: BlockColumns;
  /** The words, from `#first` to `#end`. */
  readonly #bytes: Buffer;
  readonly #first: number;
  readonly #end: number;
  readonly count: number;

  /** `bytes` must not be part of another buffer. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length - 4;
    this.count = bytes.readUInt32LE(this.#end);
    this.#first = COLUMNS * this.count;
    this.#columns = columnsIn(bytes, this.count);
  }

  /** The offset of a block in the dictionary. */
  startOf(block: number): number {
    return this.#columns.starts[block] ?? 0;
  }

  /** The offset of the postings of its words; 0 for a block that does not exist. */
  postingsOf(block: number): number {
    return this.#columns.postings[block] ?? 0;
  }

  /** The last block whose first word is at most `word`, -1 for none. */
  lastUpTo(word: Buffer): number {
    const { keys } = this.#columns;
    const wanted = keyOf(word);
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const key = keys[middle] ?? 0;
      if (key < wanted || (key === wanted && this.#compare(middle, word) <= 0)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #compare(block: number, word: Buffer): number {
    const { places } = this.#columns;
    const start = this.#first + (places[block] ?? 0);
    const end = block + 1 < this.count ? this.#first + (places[block + 1] ?? 0) : this.#end;
    return this.#bytes.compare(word, 0, word.length, start, end);
  }
}

/** The number of leading bytes of a word that are packed into one number for sorting. */
const BEGINNING = 4;
const PLACES = 2 ** 20;

/**
 * Sorts words of one byte per character. Compares numbers made from their first bytes, which V8 sorts much faster than
 * strings.
 */
export function inOrder<Kind extends { readonly word: string }>(words: readonly Kind[]): readonly Kind[] {
  if (words.length > PLACES) return [...words].sort(byWord);
  const keys = Float64Array.from(words, ({ word }, place) => beginningOf(word) * PLACES + place).sort();
  const sorted: Kind[] = [];
  let alike: Kind[] = [];
  let last = -1;
  const flush = (): void => {
    if (alike.length > 1) alike.sort(byWord);
    for (const one of alike) sorted.push(one);
  };
  for (const key of keys) {
    const one = words[key % PLACES];
    const beginning = Math.floor(key / PLACES);
    if (one === undefined) continue;
    if (beginning !== last) {
      flush();
      alike = [];
      last = beginning;
    }
    alike.push(one);
  }
  flush();
  return sorted;
}

const byWord = (one: { readonly word: string }, other: { readonly word: string }): number =>
  one.word < other.word ? -1 : 1;

function beginningOf(word: string): number {
  let number = 0;
  for (let at = 0; at < BEGINNING; at += 1) number = number * 256 + (at < word.length ? word.charCodeAt(at) : 0);
  return number;
}
