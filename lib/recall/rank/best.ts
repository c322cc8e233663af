/** Keeps the highest scores, offered in document order, in a heap with the lowest score first. */
export class Best {
  readonly #limit: number;
  readonly #documents: Uint32Array;
  readonly #scores: Float64Array;
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#documents = new Uint32Array(limit);
    this.#scores = new Float64Array(limit);
  }

  /** Scores up to this one are not kept. */
  get least(): number {
    // A later document with the lowest score is newer and therefore better.
    return this.#count < this.#limit ? 0 : (this.#scores[0] ?? 0) * (1 - 1e-9);
  }

  offer(document: number, score: number): void {
    if (score <= this.least) return;
    if (this.#count < this.#limit) this.#rise(this.#count++, document, score);
    else this.#sink(document, score);
  }

  /** The best documents, best first; of equal ones, the newer one first. */
  taken(): readonly { readonly document: number; readonly score: number }[] {
    const kept = Array.from(this.#documents.subarray(0, this.#count), (document, place) => {
      return { document, score: this.#scores[place] ?? 0 };
    });
    return kept.sort((one, other) => other.score - one.score || other.document - one.document);
  }

  /** Moves an item up from the last place. */
  #rise(last: number, document: number, score: number): void {
    let place = last;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isLower(document, score, above)) break;
      this.#move(above, place);
      place = above;
    }
    this.#put(place, document, score);
  }

  /** Replaces the first item and moves it down. */
  #sink(document: number, score: number): void {
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= this.#count) break;
      const right = below + 1;
      if (right < this.#count && this.#isLower(this.#documents[right] ?? 0, this.#scores[right] ?? 0, below))
        below = right;
      if (this.#isLower(document, score, below)) break;
      this.#move(below, place);
      place = below;
    }
    this.#put(place, document, score);
  }

  /** Of equal scores, the older document is the lower one. */
  #isLower(document: number, score: number, place: number): boolean {
    const other = this.#scores[place] ?? 0;
    return score < other || (score === other && document < (this.#documents[place] ?? 0));
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#documents[from] ?? 0, this.#scores[from] ?? 0);
  }

  #put(place: number, document: number, score: number): void {
    this.#documents[place] = document;
    this.#scores[place] = score;
  }
}
