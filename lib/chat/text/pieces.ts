/** How many pieces wait to be joined: millions of small texts take several times the memory of one. */
const MOST_PIECES = 4096;

/** The pieces of a text while they arrive. */
export class Pieces {
  #joined: string[] = [];
  #pieces: string[] = [];

  add(piece: string): void {
    if (this.#pieces.push(piece) < MOST_PIECES) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  /** The whole text, which is forgotten here. */
  take(): string {
    const text = [...this.#joined, ...this.#pieces].join('');
    this.#joined = [];
    this.#pieces = [];
    return text;
  }
}
