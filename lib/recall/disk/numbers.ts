/** Appends a number of variable length: seven bits per byte, lowest first. */
export function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Reads such numbers. */
export class NumberReader {
  readonly #bytes: Uint8Array;
  at: number;

  /** Begins at byte `at`. */
  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  next(): number {
    const byte = this.#bytes[this.at++] ?? 0;
    return byte < 128 ? byte : this.#rest(byte & 127);
  }

  /** Reads the rest of a long number. Most are short, and V8 compiles them alone. */
  #rest(low: number): number {
    let value = low;
    for (let factor = 128; ; factor *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}
