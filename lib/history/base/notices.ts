/** What to tell the user about the history, in order, each sentence once. */
export class Notices {
  readonly #seen = new Set<string>();
  #pending: string[] = [];

  /** Adds a sentence, once. */
  add(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    this.#pending.push(text);
  }

  /** What was added since the last call. The caller tells the user. */
  take(): readonly string[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}
