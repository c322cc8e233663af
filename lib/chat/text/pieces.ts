/** The number of pieces after which they are joined: millions of small strings take several times the memory of one. */
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

  /** Returns the whole text and forgets it. */
  take(): string {
    const text = [...this.#joined, ...this.#pieces].join('');
    this.#joined = [];
    this.#pieces = [];
    return text;
  }
}
