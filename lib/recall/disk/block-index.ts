/** A block of a dictionary: its first word (see `asBytes`), its offset in the dictionary, and the offset of the postings of its words. */
export interface Block {
  readonly word: string;
  readonly start: number;
  readonly postings: number;
}

/** The number of bytes for each block in addition to its word: the offset of its postings, its own offset, that of its word, and the key of the word. */
const COLUMNS = 8 + 4 + 4 + 4;

/** Packs the index of blocks in columns, so that nothing is decoded before a lookup. The words follow, then the number of blocks. */
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
