/** How often a word is in a document, by the two bits that say so. */
export const FREQUENCIES: Float32Array = Float32Array.of(1, 2, 3.5, 6);

const frequencyCode = (frequency: number): number => (frequency < 3 ? frequency - 1 : frequency < 5 ? 2 : 3);

/** The documents of a word, in ascending order: for each the distance to the one before times four and the code of its frequency, as a variable-length number. */
export class PostingsWriter {
  #bytes: Uint8Array;
  #length = 0;
  #last = -1;
  count = 0;

  constructor(size = 8) {
    this.#bytes = new Uint8Array(size);
  }

  add(document: number, frequency: number): void {
    this.addCoded(document, frequencyCode(frequency));
  }

  addCoded(document: number, code: number): void {
    let value = (document - this.#last - 1) * 4 + code;
    this.#last = document;
    this.count += 1;
    if (this.#length + 6 > this.#bytes.length) this.#grow();
    while (value > 127) {
      this.#bytes[this.#length++] = (value % 128) + 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#length++] = value;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Calls `take` with each document and the code of its frequency. */
export function decodePostings(bytes: Uint8Array, take: (document: number, code: number) => void): void {
  let document = -1;
  for (let at = 0; at < bytes.length; ) {
    let byte = bytes[at++] ?? 0;
    let value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
    }
    document += Math.floor(value / 4) + 1;
    take(document, value % 4);
  }
}
