import { type EditBuffer, insert, type MarkedText, replaceRange } from './edit-buffer.js';
import { NO_TEXT } from './edits.js';

/** Killed texts, to be yanked again. */
export class KillRing {
  readonly #kills: MarkedText[] = [];
  #yank: { readonly start: number; readonly index: number } | null = null;

  /** Adds a killed text as a new entry, or puts it before or after the newest one. */
  add(killed: MarkedText, where: 'new' | 'before' | 'after'): void {
    const newest = where === 'new' ? undefined : this.#kills.pop();
    if (newest === undefined) this.#kills.push(killed);
    else this.#kills.push(where === 'before' ? concatenate(killed, newest) : concatenate(newest, killed));
  }

  /** Inserts the newest kill; null when there is none. */
  yank(buffer: EditBuffer): EditBuffer | null {
    const newest = this.#kills.at(-1);
    if (newest === undefined) return null;
    this.#yank = { start: buffer.cursor, index: this.#kills.length - 1 };
    return insert(buffer, newest);
  }

  /** Replaces the text yanked last, which must end at the cursor, with the kill before it; null if nothing was yanked. */
  yankPrevious(buffer: EditBuffer): EditBuffer | null {
    if (this.#yank === null) return null;
    const { start } = this.#yank;
    const index = (this.#yank.index + this.#kills.length - 1) % this.#kills.length;
    this.#yank = { start, index };
    return replaceRange(buffer, start, buffer.cursor, this.#kills[index] ?? NO_TEXT);
  }
}

function concatenate(first: MarkedText, second: MarkedText): MarkedText {
  return insert({ ...first, cursor: first.text.length }, second);
}
