/** What the user has to hear of the history, in the order it happened, each sentence once. */
export class Notices {
  readonly #seen = new Set<string>();
  #pending: string[] = [];

  /** Adds a sentence; one that was given before is not repeated. */
  add(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    this.#pending.push(text);
  }

  /** What was added since the last call. Whoever takes it tells the user. */
  take(): readonly string[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}
