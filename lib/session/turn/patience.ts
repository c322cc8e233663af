import { isAbort } from '../../errors.js';
import { sleep } from './failed-request.js';

/** How long a turn waits for a server that says when it answers again, and how the user ends that. */
export class Patience {
  readonly #until: number;
  readonly #next: () => string | null;
  #skip: AbortController | null = null;

  /** Waits for so many milliseconds in all, if no other server could answer; `next` names the one that could. */
  constructor(most: number, next: () => string | null) {
    this.#until = Date.now() + most;
    this.#next = next;
  }

  /** How long it may still wait beyond the usual, in milliseconds. */
  get left(): number {
    return this.#next() === null ? Math.max(0, this.#until - Date.now()) : 0;
  }

  /** The server that could answer instead; null for none. */
  get next(): string | null {
    return this.#next();
  }

  /**
   * Waits. Resolves to true if the user wants the next server instead. Rejects with an abort error as soon as `signal`
   * aborts.
   */
  async wait(delay: number, signal: AbortSignal): Promise<boolean> {
    const skip = new AbortController();
    this.#skip = skip;
    try {
      await sleep(delay, AbortSignal.any([signal, skip.signal]));
      return false;
    } catch (thrown) {
      if (signal.aborted || !isAbort(thrown)) throw thrown;
      return true;
    } finally {
      this.#skip = null;
    }
  }

  /** Ends the wait in favour of the next server. Returns false if there is no wait or no such server. */
  skip(): boolean {
    if (this.#skip === null || this.#next() === null) return false;
    this.#skip.abort();
    return true;
  }
}
