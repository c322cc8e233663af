/** What the screen has not taken yet may not pile up beyond this. */
const MAX_QUEUED = 64 * 1024;

/** Text on its way to the screen: pieces go in as they come, come out joined; what the screen is too slow for is left out with a word. */
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

  /** What is waiting, or null. */
  take(): string | null {
    if (this.#waiting === '') return null;
    const text = this.#left === 0 ? this.#waiting : `\n[… ${this.#left} characters not shown …]\n${this.#waiting}`;
    this.#waiting = '';
    this.#left = 0;
    return text;
  }

  /** Resolves when something is there to take, or with `done`. */
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
