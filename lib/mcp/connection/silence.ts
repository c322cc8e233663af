import { monotonic } from '../../clock.js';
import { HiError } from '../../errors.js';

/** How long a call may take in total, in multiples of the limit. */
const MOST_SILENCES = 10;

/** Stops a call whose server is silent for too long. The clock stops while the user is asked something. */
export class Silence {
  readonly #limit: number;
  readonly #stop = new AbortController();
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `limit` is how long the server may say nothing, in milliseconds. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#left = MOST_SILENCES * limit;
    this.resume();
  }

  /** Aborts with a `HiError` after too long a silence. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The server has said something. */
  heard(): void {
    if (this.#timer === null) return;
    this.pause();
    this.resume();
  }

  pause(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#left -= monotonic() - this.#since;
  }

  resume(): void {
    if (this.#timer !== null) return;
    this.#since = monotonic();
    const isLast = this.#left <= this.#limit;
    const said = isLast
      ? `it took more than ${(MOST_SILENCES * this.#limit) / 1000} s in total`
      : `it was silent for ${this.#limit / 1000} s`;
    this.#timer = setTimeout(
      () => this.#stop.abort(new HiError('network', `The call timed out: ${said}.`)),
      Math.max(0, Math.min(this.#limit, this.#left)),
    );
  }
}
