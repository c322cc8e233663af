/** Keeps the highest scores of many. */
export class Best {
  readonly #limit: number;
  #kept: { readonly document: number; readonly score: number }[] = [];
  #least = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What does not score more than that is not kept. */
  get least(): number {
    return this.#least;
  }

  offer(document: number, score: number): void {
    if (score <= this.#least) return;
    this.#kept.push({ document, score });
    if (this.#kept.length >= 4 * this.#limit) this.#cut();
  }

  /** The best, best first; of equal ones the newer comes first. */
  taken(): readonly { readonly document: number; readonly score: number }[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept.sort((one, other) => other.score - one.score || other.document - one.document);
    if (this.#kept.length < this.#limit) return;
    this.#kept = this.#kept.slice(0, this.#limit);
    // One that equals the least and comes later is newer.
    this.#least = (this.#kept.at(-1)?.score ?? 0) * (1 - 1e-9);
  }
}
