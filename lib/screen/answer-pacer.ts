import { monotonic } from '../clock.js';
import type { AnswerWriter } from './answer-writer.js';

/** How much text may wait, in characters. More is passed on before the frame ends, so that an endless answer cannot fill the memory. */
const MOST_PENDING = 16_384;

/** Collects the pieces of an answer that arrive within one frame: styling them together costs a fraction of styling each one. */
export class AnswerPacer {
  readonly #answer: AnswerWriter;
  readonly #frame: number;
  #pending = '';
  #timer: NodeJS.Timeout | null = null;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** Passes pieces on to `answer` at most once per `frame` milliseconds; immediately if that is 0. */
  constructor(answer: AnswerWriter, frame: number) {
    this.#answer = answer;
    this.#frame = frame;
  }

  push(piece: string): void {
    this.#pending += piece;
    if (this.#pending.length > MOST_PENDING) {
      this.flush();
      return;
    }
    if (this.#timer !== null) return;
    const wait = this.#frame === 0 ? 0 : this.#shownAt + this.#frame - monotonic();
    if (wait <= 0) this.flush();
    else this.#timer = setTimeout(() => this.flush(), wait);
  }

  /** Passes on what is pending. Call it before showing anything else. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    if (this.#frame > 0) this.#shownAt = monotonic();
    this.#answer.push(text);
  }
}
