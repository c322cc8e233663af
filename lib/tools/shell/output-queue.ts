import { newlinesIn } from '../../chat/text.js';
import type { DeferredOutput } from '../common/tool.js';

/** A piece of output, and how many ends of lines it has together with what is left out of it. */
export interface QueuedOutput {
  readonly text: string;
  readonly lines: number;
}

/** How many characters may wait for the screen. */
const MAX_QUEUED = 64 * 1024;

/** A queue of text for the screen: chunks are joined; what exceeds the limit is replaced by a note. Deferred output is read when it is taken. */
export class OutputQueue {
  #waiting = '';
  #lines = 0;
  #left = 0;
  #wake: (() => void) | null = null;
  readonly #deferred = new Set<DeferredOutput>();

  add(output: string | DeferredOutput): void {
    if (output === '') return;
    if (typeof output === 'string') this.#append(output);
    else this.#deferred.add(output);
    this.#wake?.();
  }

  #append(text: string): void {
    this.#waiting += text;
    this.#lines += newlinesIn(text);
    const excess = this.#waiting.length - MAX_QUEUED;
    if (excess > 0) {
      this.#waiting = this.#waiting.slice(-MAX_QUEUED / 2);
      this.#left += excess + MAX_QUEUED / 2;
    }
  }

  #readDeferred(): void {
    for (const output of this.#deferred) {
      const { text, leftOut, leftOutLines } = output.read();
      if (leftOut > 0) this.#waiting += gap(leftOut);
      this.#lines += leftOutLines;
      this.#append(text);
    }
    this.#deferred.clear();
  }

  /** The queued text, or null. */
  take(): QueuedOutput | null {
    this.#readDeferred();
    if (this.#waiting === '') return null;
    const taken = { text: this.#left === 0 ? this.#waiting : gap(this.#left) + this.#waiting, lines: this.#lines };
    this.#waiting = '';
    this.#lines = 0;
    this.#left = 0;
    return taken;
  }

  /** Resolves when text is queued, or with `done`. */
  async next(done: Promise<unknown>): Promise<void> {
    if (this.#waiting !== '' || this.#deferred.size > 0) return;
    await Promise.race([
      done,
      new Promise<void>((resolve) => {
        this.#wake = resolve;
      }),
    ]);
    this.#wake = null;
  }
}

const gap = (characters: number): string => `\n[… ${characters} characters not shown …]\n`;
