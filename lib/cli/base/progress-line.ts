import truncatedWidth from 'fast-string-truncated-width';
import { monotonic } from '../../clock.js';
import { isDumb } from './streams.js';
import type { World } from './world.js';

/** How often the line is drawn, in milliseconds. */
const INTERVAL = 100;

/** Shorter work shows no line. Milliseconds. */
const WORTH = 1000;

/** A line on stderr that shows progress. It is drawn in place, only on a terminal, after a second, and leaves no trace. */
export class ProgressLine {
  readonly #stderr: World['stderr'];
  readonly #isShown: boolean;
  #nextAt: number;
  #isDrawn = false;

  constructor({ stderr, env }: Pick<World, 'stderr' | 'env'>, { after = WORTH }: { readonly after?: number } = {}) {
    this.#stderr = stderr;
    this.#isShown = stderr.isTTY === true && !isDumb(env);
    this.#nextAt = monotonic() + after;
  }

  /** Draws the text, which is made for a number of columns, if it is due. */
  show(text: (columns: number) => string): void {
    const now = monotonic();
    if (!this.#isShown || now < this.#nextAt) return;
    this.#nextAt = now + INTERVAL;
    this.#isDrawn = true;
    // Leaves one column free: a line as wide as the terminal would wrap, and erasing clears one row only.
    const columns = Math.max(1, (this.#stderr.columns ?? 80) - 1);
    const shown = text(columns);
    const { index } = truncatedWidth(shown, { limit: columns, ellipsis: '' });
    this.#stderr.write(`\r${shown.slice(0, index)}\x1b[K`);
  }

  /** Shows the completed share as a percentage. */
  showShare(what: string, done: number, all: number): void {
    this.show(() => `${what}: ${all === 0 ? 100 : Math.min(100, Math.floor((100 * done) / all))} %`);
  }

  erase(): void {
    if (this.#isDrawn) this.#stderr.write('\r\x1b[K');
    this.#isDrawn = false;
  }
}
