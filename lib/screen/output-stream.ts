import { monotonic } from '../waits.js';

/** What is used of a stream for output, which may be a terminal. Node's `Writable` is one. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** How much was written and has not been taken yet. */
  readonly writableLength: number;
  /** Whether so much was written that the caller had better wait. */
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  /** Calls `done` when the text has left the process, with an error if it cannot. */
  write(text: string, done?: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'resize', listener: () => void): this;
  off(event: 'resize', listener: () => void): this;
}

/** In characters. */
const MOST_WAITING = 65_536;

/**
 * Writes text to streams in the order it was put, with one write for everything a stream gets within a short time. Text
 * put after a pause is written in the same tick of the event loop. After that, writes are at least `interval`
 * milliseconds apart.
 */
export class WriteQueue {
  readonly #interval: number;
  readonly #complete: () => void;
  readonly #streams = new Set<OutputStream>();
  /** How many characters are pending. */
  #waiting = 0;
  #pending: { readonly stream: OutputStream; text: string }[] = [];
  #isScheduled = false;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** `complete` is called before each write and may put more. */
  constructor(interval: number, complete: () => void = () => undefined) {
    this.#interval = interval;
    this.#complete = complete;
  }

  put(stream: OutputStream, text: string): void {
    if (text === '') return;
    const last = this.#pending.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.#pending.push({ stream, text });
    this.#waiting += text.length;
    this.#streams.add(stream);
    if (!this.#isScheduled) this.#schedule();
  }

  /** Writes everything pending now. */
  flush(): void {
    if (this.#isScheduled) {
      clearImmediate(this.#immediate);
      clearTimeout(this.#timer);
    }
    this.#isScheduled = true;
    this.#complete();
    this.#isScheduled = false;
    if (this.#interval > 0) this.#writtenAt = monotonic();
    const pending = this.#pending;
    this.#pending = [];
    this.#waiting = 0;
    for (const { stream, text } of pending) stream.write(text);
  }

  /** True while a stream or this queue buffers more than it should: the producer should wait for `drained`. */
  get isFull(): boolean {
    if (this.#waiting > MOST_WAITING) return true;
    for (const stream of this.#streams) if (stream.writableNeedDrain) return true;
    return false;
  }

  /** Resolves when everything put so far has left the process, or its stream is closed. */
  async drained(): Promise<void> {
    this.flush();
    await Promise.all([...this.#streams].map(written));
  }

  #schedule(): void {
    this.#isScheduled = true;
    const wait = this.#interval === 0 ? 0 : this.#writtenAt + this.#interval - monotonic();
    if (wait > 0) this.#timer = setTimeout(() => this.flush(), wait);
    else this.#immediate = setImmediate(() => this.flush());
  }
}

/**
 * The callback of an empty write runs after everything before it; on a closed stream it gets an error, and then nothing
 * is pending either.
 */
function written(stream: OutputStream): Promise<void> {
  if (stream.writableLength === 0 || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => stream.write('', () => resolve()));
}
