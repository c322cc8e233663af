import { BlockIndex } from './block-index.js';
import { NumberReader } from './numbers.js';
import type { Pages } from './pages.js';

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
