/** Notices for the user about the history, in order, each only once. */
export class Notices {
  readonly #seen = new Set<string>();
  #pending: string[] = [];

  /** Adds a sentence unless it was added before. */
  add(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    this.#pending.push(text);
  }

  /** The sentences since the last call. The caller shows them. */
  take(): readonly string[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}
