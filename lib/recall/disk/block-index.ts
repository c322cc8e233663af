/** The bytes before the first word of a block: the offset of the block in the dictionary, the offset of its postings, and the length of the word. */
const HEAD = 12;

/** The index of the blocks of a dictionary, in its stored form. Nothing is decoded before a lookup. */
export class BlockIndex {
  readonly #bytes: Buffer;
  /** The offset of each block's description. */
  readonly #places: Uint32Array;
  readonly count: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const places = new Uint32Array(Math.ceil(bytes.length / HEAD));
    let count = 0;
    for (let at = 0; at < bytes.length; at += HEAD + wordLength(bytes, at)) places[count++] = at;
    this.#places = places.subarray(0, count);
    this.count = count;
  }

  /** The offset of a block in the dictionary. */
  startOf(block: number): number {
    return this.#bytes.readUInt32LE(this.#places[block] ?? 0);
  }

  /** The offset of the postings of its words; 0 for a block that does not exist. */
  postingsOf(block: number): number {
    const place = this.#places[block];
    return place === undefined ? 0 : this.#bytes.readUIntLE(place + 4, 6);
  }

  /** The last block whose first word is at most `word`, -1 for none. */
  lastUpTo(word: Buffer): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(middle, word) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #compare(block: number, word: Buffer): number {
    const place = this.#places[block] ?? 0;
    const start = place + HEAD;
    return this.#bytes.compare(word, 0, word.length, start, start + wordLength(this.#bytes, place));
  }
}

function wordLength(bytes: Buffer, place: number): number {
  return (bytes[place + 10] ?? 0) | ((bytes[place + 11] ?? 0) << 8);
}
