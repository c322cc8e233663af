import { setTimeout as delay } from 'node:timers/promises';

/** How long no key may have come before a question is shown: one that is held down begins to repeat after 660. Milliseconds. */
const LENGTH = 700;

/** Knows when a key came last, so that one which was meant for the line does not answer a question. */
export class TypingPause {
  #typedAt = Number.NEGATIVE_INFINITY;

  get typedAt(): number {
    return this.#typedAt;
  }

  typed(): void {
    this.#typedAt = performance.now();
  }

  /** Resolves when no key has come for a while, those that have arrived and are not read yet included. Rejects when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    await delay(1, null, { signal });
    for (let left = this.#left(); left > 0; left = this.#left()) await delay(left, null, { signal });
  }

  #left(): number {
    return this.#typedAt + LENGTH - performance.now();
  }
}
