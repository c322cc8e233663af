/** No style and no link. */
const PLAIN = '\x1b[0m\x1b]8;;\x1b\\';

/**
 * Rows below the text being written, wherever in its row the cursor is. They are drawn after each write and removed before the next one, so that
 * none of them stay on the screen. The cursor returns to where it was, with its style (DECSC, DECRC).
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

  /** The sequence that draws the rows. The cursor must not be past the last column: moving it would lose the pending wrap to a new row. */
  draw(): string {
    const { length } = this.#rows;
    this.#isDrawn = true;
    // An index (IND) scrolls in the last row and keeps the column, so it makes room wherever the cursor is.
    const room = `${'\x1bD'.repeat(length)}\x1b[${length}A`;
    return `${room}\x1b7\r\n${this.#rows.map((row) => `${PLAIN}${row}\x1b[K`).join('\r\n')}\x1b[J\x1b8`;
  }

  /** The sequence that removes the rows; empty if they are not drawn. */
  erase(): string {
    if (!this.#isDrawn) return '';
    this.#isDrawn = false;
    // Narrowing the window may have pushed the rows off the screen, so that there is no row below. The index makes one.
    return '\x1bD\x1b[A\x1b7\x1b[0m\x1b[B\r\x1b[J\x1b8';
  }
}
