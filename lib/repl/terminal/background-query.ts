import { setTimeout as sleep } from 'node:timers/promises';
import { BACKGROUND_QUERY, isLight } from './background-reply.js';

/** How long the terminal may take to answer, in milliseconds. */
const LIMIT = 500;

/** Asks the terminal whether its background is light, and keeps track of whether the answer may still come. */
export class BackgroundQuery {
  readonly #onAnswer: ((isLight: boolean) => void) | null;
  readonly #answered = new AbortController();
  #due = Number.NEGATIVE_INFINITY;

  /** With null, nothing is asked. */
  constructor(onAnswer: ((isLight: boolean) => void) | null) {
    this.#onAnswer = onAnswer;
  }

  ask(write: (text: string) => void): void {
    if (this.#onAnswer === null) return;
    this.#due = performance.now() + LIMIT;
    write(BACKGROUND_QUERY);
  }

  answer(colour: string): void {
    this.#answered.abort();
    const light = isLight(colour);
    if (light !== null) this.#onAnswer?.(light);
  }

  /** Resolves when no answer is expected any more; at once if none was asked for. */
  async settled(): Promise<void> {
    const left = this.#due - performance.now();
    if (left > 0) await sleep(left, undefined, { signal: this.#answered.signal }).catch(() => undefined);
  }
}
