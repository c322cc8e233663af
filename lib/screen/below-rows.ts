/** No style and no link. */
const PLAIN = '\x1b[0m\x1b]8;;\x1b\\';

/**
 * Rows below whatever is being written, wherever in its row the cursor is. They are drawn after each write and removed before the next one, so that
 * nothing of them stays on the screen. The cursor returns to where it was, with its style (DECSC, DECRC).
 */
export class BelowRows {
  #rows: readonly string[] = [];
  #isDrawn = false;

  /** Shows these rows from the next `draw` on. Each must fit into a row of the terminal, with a column left. */
  set(rows: readonly string[]): void {
    this.#rows = rows;
  }

  /** Whether there is something to draw. */
  get isDue(): boolean {
    return !this.#isDrawn && this.#rows.length > 0;
  }

  /** What draws the rows. The cursor must not wait behind the last column: moving it would forget that the next character belongs into a new row. */
  draw(): string {
    const { length } = this.#rows;
    this.#isDrawn = true;
    // An index (IND) scrolls at the last row and keeps the column, so it makes room wherever the cursor is.
    const room = `${'\x1bD'.repeat(length)}\x1b[${length}A`;
    return `${room}\x1b7\r\n${this.#rows.map((row) => `${PLAIN}${row}\x1b[K`).join('\r\n')}\x1b[J\x1b8`;
  }

  /** What removes the rows; empty when they are not drawn. */
  erase(): string {
    if (!this.#isDrawn) return '';
    this.#isDrawn = false;
    // A window that was made narrower may have pushed the rows out, so that there is none below: the index makes one.
    return '\x1bD\x1b[A\x1b7\x1b[0m\x1b[B\r\x1b[J\x1b8';
  }
}
