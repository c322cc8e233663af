import { newlinesIn } from '../../chat/text/newlines-in.js';

/** A piece of output, and how many ends of lines it has together with what is left out of it. */
export interface QueuedOutput {
  readonly text: string;
  readonly lines: number;
}

/** The most characters that wait for the screen. */
const MAX_QUEUED = 64 * 1024;

/** A queue of text for the screen: chunks are joined; what exceeds the limit is replaced by a note. */
export class OutputQueue {
  #waiting = '';
  #left = 0;
  #leftLines = 0;
  #wake: (() => void) | null = null;

  add(text: string): void {
    if (text === '') return;
    this.#waiting += text;
    const excess = this.#waiting.length - MAX_QUEUED;
    if (excess > 0) {
      this.#leftLines += newlinesIn(this.#waiting.slice(0, -MAX_QUEUED / 2));
      this.#waiting = this.#waiting.slice(-MAX_QUEUED / 2);
      this.#left += excess + MAX_QUEUED / 2;
    }
    this.#wake?.();
  }

  /** The queued text, or null. */
  take(): QueuedOutput | null {
    if (this.#waiting === '') return null;
    const text = this.#left === 0 ? this.#waiting : `\n[… ${this.#left} characters not shown …]\n${this.#waiting}`;
    const lines = this.#leftLines + newlinesIn(this.#waiting);
    this.#waiting = '';
    this.#left = 0;
    this.#leftLines = 0;
    return { text, lines };
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
