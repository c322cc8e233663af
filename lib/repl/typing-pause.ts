import { setTimeout as delay } from 'node:timers/promises';

/** How long the keys must rest before a question is shown. A key held down starts to repeat after 660. Milliseconds. */
const LENGTH = 700;

/** Waits for a pause in the typing, so that a key meant for the line does not answer a question. */
export class TypingPause {
  #typedAt = Number.NEGATIVE_INFINITY;

  get typedAt(): number {
    return this.#typedAt;
  }

  typed(): void {
    this.#typedAt = performance.now();
  }

  /** Resolves when no key has come for a while, counting keys that arrived but are not read yet. Rejects when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    await delay(1, null, { signal });
    for (let left = this.#left(); left > 0; left = this.#left()) await delay(left, null, { signal });
  }

  #left(): number {
    return this.#typedAt + LENGTH - performance.now();
  }
}
