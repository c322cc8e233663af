/** What the user has to hear of the history, in the order it happened, each sentence once. */
export class Notices {
  readonly #given = new Set<string>();
  #waiting: string[] = [];

  /** Adds a sentence; one that was given before is not repeated. */
  add(text: string): void {
    if (this.#given.has(text)) return;
    this.#given.add(text);
    this.#waiting.push(text);
  }

  /** What was added since the last call. Whoever takes it tells the user. */
  take(): readonly string[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
