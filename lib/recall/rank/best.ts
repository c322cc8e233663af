/** Keeps the highest scores, offered in document order. Sorts them out now and then, which V8 does natively; it would have to compile a heap in each process. */
export class Best {
  readonly #limit: number;
  readonly #documents: Uint32Array;
  readonly #scores: Float64Array;
  #count = 0;
  #least = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#documents = new Uint32Array(2 * limit);
    this.#scores = new Float64Array(2 * limit);
  }

  /** Scores up to this one are not kept. It rises now and then. */
  get least(): number {
    return this.#least;
  }

  offer(document: number, score: number): void {
    if (score <= this.#least) return;
    this.#documents[this.#count] = document;
    this.#scores[this.#count] = score;
    this.#count += 1;
    if (this.#count === this.#scores.length) this.#sortOut();
  }

  /** The best documents, best first; of equal ones, the newer one first. */
  taken(): readonly { readonly document: number; readonly score: number }[] {
    if (this.#count > this.#limit) this.#sortOut();
    const kept = Array.from(this.#documents.subarray(0, this.#count), (document, place) => {
      return { document, score: this.#scores[place] ?? 0 };
    });
    return kept.sort((one, other) => other.score - one.score || other.document - one.document);
  }

  /** Drops all but the best; of equal ones, the older ones. */
  #sortOut(): void {
    const sorted = this.#scores.slice(0, this.#count).sort();
    const over = this.#count - this.#limit;
    const least = sorted[over] ?? 0;
    let older = over - sorted.indexOf(least);
    const documents = this.#documents;
    const scores = this.#scores;
    let kept = 0;
    for (let place = 0; place < sorted.length; place += 1) {
      const score = scores[place] ?? 0;
      if (score < least || (score === least && older-- > 0)) continue;
      documents[kept] = documents[place] ?? 0;
      scores[kept] = score;
      kept += 1;
    }
    this.#count = kept;
    // A later document with the lowest score is newer and therefore better.
    this.#least = least * (1 - 1e-9);
  }
}
