import type { Postings, TakeDocuments } from './part.js';

/** How often a word is in a document, by the two bits that say so. */
export const FREQUENCIES: Float32Array = Float32Array.of(1, 2, 3.5, 6);

const frequencyCode = (frequency: number): number => (frequency < 3 ? frequency - 1 : frequency < 5 ? 2 : 3);

/** The documents of a word in memory, in ascending order: for each the distance to the one before times four and the code of its frequency, as a variable-length number. */
export class PostingsWriter implements Postings {
  #bytes = new Uint8Array(8);
  #length = 0;
  #last = -1;
  count = 0;

  add(document: number, frequency: number): void {
    let value = (document - this.#last - 1) * 4 + frequencyCode(frequency);
    this.#last = document;
    this.count += 1;
    if (this.#length + 6 > this.#bytes.length) this.#grow();
    while (value > 127) {
      this.#bytes[this.#length++] = (value % 128) + 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#length++] = value;
  }

  each(take: TakeDocuments): void {
    const lists = new DocumentLists();
    this.addTo(lists);
    lists.each(take);
  }

  /** Adds the documents to lists. */
  addTo(lists: DocumentLists): void {
    const bytes = this.#bytes;
    let document = -1;
    for (let at = 0; at < this.#length; ) {
      let byte = bytes[at++] ?? 0;
      let value = byte & 127;
      for (let factor = 128; byte > 127; factor *= 128) {
        byte = bytes[at++] ?? 0;
        value += (byte & 127) * factor;
      }
      document += Math.floor(value / 4) + 1;
      lists.add(document, value % 4);
    }
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** The documents of a word in lists, one for each code of a frequency, to be filled again and again. */
export class DocumentLists implements Postings {
  readonly #lists = Array.from(FREQUENCIES, () => new Uint32Array(16));
  readonly #lengths = new Uint32Array(FREQUENCIES.length);

  get count(): number {
    return this.#lengths.reduce((sum, length) => sum + length, 0);
  }

  clear(): void {
    this.#lengths.fill(0);
  }

  add(document: number, code: number): void {
    const length = this.#lengths[code] ?? 0;
    this.#room(code, length + 1)[length] = document;
    this.#lengths[code] = length + 1;
  }

  /** Adds documents whose numbers begin at `start`. */
  addAll(documents: Uint32Array, count: number, code: number, start: number): void {
    const length = this.#lengths[code] ?? 0;
    const list = this.#room(code, length + count);
    for (let index = 0; index < count; index += 1) list[length + index] = start + (documents[index] ?? 0);
    this.#lengths[code] = length + count;
  }

  each(take: TakeDocuments): void {
    this.#lists.forEach((list, code) => {
      const length = this.#lengths[code] ?? 0;
      if (length > 0) take(list, length, code);
    });
  }

  #room(code: number, length: number): Uint32Array {
    const list = this.#lists[code] ?? new Uint32Array();
    if (length <= list.length) return list;
    const larger = new Uint32Array(2 * length);
    larger.set(list);
    this.#lists[code] = larger;
    return larger;
  }
}
