import truncatedWidth from 'fast-string-truncated-width';
import { monotonic } from '../../clock.js';
import { isDumb } from './streams.js';
import type { World } from './world.js';

/** How often the line is drawn, in milliseconds. */
const INTERVAL = 100;

/** What takes less is not worth a line. Milliseconds. */
const WORTH = 1000;

/** A line on stderr that says how far something is. It is drawn in place, on a terminal only, from a second on, and leaves no trace. */
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

  /** Draws the text, which is made for so many columns, where it is time to. */
  show(text: (columns: number) => string): void {
    const now = monotonic();
    if (!this.#isShown || now < this.#nextAt) return;
    this.#nextAt = now + INTERVAL;
    this.#isDrawn = true;
    // One column stays free: a line as wide as the terminal would wrap, and erasing clears one row only.
    const columns = Math.max(1, (this.#stderr.columns ?? 80) - 1);
    const shown = text(columns);
    const { index } = truncatedWidth(shown, { limit: columns, ellipsis: '' });
    this.#stderr.write(`\r${shown.slice(0, index)}\x1b[K`);
  }

  /** The share of a whole. */
  showShare(what: string, done: number, all: number): void {
    this.show(() => `${what}: ${all === 0 ? 100 : Math.min(100, Math.floor((100 * done) / all))} %`);
  }

  erase(): void {
    if (this.#isDrawn) this.#stderr.write('\r\x1b[K');
    this.#isDrawn = false;
  }
}
