/** The most characters that wait for the screen. */
const MAX_QUEUED = 64 * 1024;

/** A queue of text for the screen: chunks are joined; what exceeds the limit is replaced by a note. */
export class OutputQueue {
  #waiting = '';
  #left = 0;
  #wake: (() => void) | null = null;

  add(text: string): void {
    if (text === '') return;
    this.#waiting += text;
    const excess = this.#waiting.length - MAX_QUEUED;
    if (excess > 0) {
      this.#waiting = this.#waiting.slice(-MAX_QUEUED / 2);
      this.#left += excess + MAX_QUEUED / 2;
    }
    this.#wake?.();
  }

  /** The queued text, or null. */
  take(): string | null {
    if (this.#waiting === '') return null;
    const text = this.#left === 0 ? this.#waiting : `\n[… ${this.#left} characters not shown …]\n${this.#waiting}`;
    this.#waiting = '';
    this.#left = 0;
    return text;
  }

  /** Resolves when text is queued, or with `done`. */
  async next(done: Promise<unknown>): Promise<void> {
    if (this.#waiting !== '') return;
    await Promise.race([
      done,
      new Promise<void>((resolve) => {
        this.#wake = resolve;
      }),
    ]);
    this.#wake = null;
  }
}
