import { CYAN, DIM, paint } from '../screen/style.js';
import type { EditBuffer } from './edit-buffer.js';
import { displayText, displayWidth, displayWithTokens, layOutRows, rowIndexAt, type ScreenRow } from './line-layout.js';

/** The part of the terminal in which the line is edited. */
export interface Painter {
  /** Draws the line over what was drawn before. `hint` goes below it, dimmed, and is gone with the next drawing. */
  draw(view: LineView): void;
  /** Leaves the line as it stands in the scrollback, whole, and goes to the next row. */
  leave(view: LineView): void;
  /** Removes the line from the screen, to be drawn again after something else was written. */
  lift(): void;
  /** Clears the whole screen; the line must be drawn again. */
  clear(): void;
}

export interface LineView {
  readonly prompt: string;
  readonly buffer: EditBuffer;
  readonly hint?: string;
}

/** The terminal's size and how to write to it. */
export interface Canvas {
  columns(): number;
  rows(): number;
  write(text: string): void;
  readonly colour: boolean;
}

/**
 * A painter with nothing drawn. It never asks the terminal where the cursor is: it remembers in which row of its own drawing the cursor was
 * left, and puts it into its column by writing the text before it again, which is right however wide this terminal finds an emoji.
 */
export function createPainter(canvas: Canvas): Painter {
  /** `above` are the widths of the rows over the one in which the cursor was left. */
  let drawn: { readonly view: LineView; readonly columns: number; readonly above: readonly number[] } | null = null;

  const token = (text: string): string => (canvas.colour ? paint(text, CYAN) : text);
  const dim = (text: string): string => (canvas.colour ? paint(text, DIM) : text);

  /**
   * Moves to where the last drawing began. When the terminal has become narrower meanwhile it has wrapped the rows above the cursor anew.
   * Terminals disagree about the row of the cursor; to go up too little leaves something on the screen, too much takes something away.
   */
  function home(): string {
    const above = drawn?.above ?? [];
    const up = above.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / canvas.columns())), 0);
    return up > 0 ? `\r\x1b[${up}A` : '\r';
  }

  function rowText({ prompt, buffer }: LineView, row: ScreenRow, end: number): string {
    const text = displayWithTokens(buffer.text, buffer.marks, row.start, end, token);
    return row.start === 0 ? displayText(prompt) + text : text;
  }

  /** The rows from `first` to `last`, each ended here and not by the terminal, which would wrap them anew when its width changes. */
  function rowsText(view: LineView, rows: readonly ScreenRow[], first: number, last: number): string {
    return rows
      .slice(first, last + 1)
      .map((row) => rowText(view, row, row.end) + (row.isFull ? '' : '\x1b[K'))
      .join('\r\n');
  }

  return {
    draw(view) {
      const columns = canvas.columns();
      if (drawn !== null && drawn.columns === columns && isAppended(drawn.view, view, columns)) {
        canvas.write(displayText(view.buffer.text.slice(drawn.view.buffer.text.length)));
        drawn = { ...drawn, view };
        return;
      }
      const rows = rowsAround(view, columns, canvas.rows());
      const room = Math.max(1, canvas.rows() - (view.hint === undefined ? 1 : 2));
      const at = rowIndexAt(rows, view.buffer.cursor);
      const first = Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room));
      const last = Math.min(rows.length, first + room) - 1;
      let text = `${home()}${rowsText(view, rows, first, last)}${rows[last]?.isFull ? '' : '\x1b[J'}`;
      let below = last - at;
      if (view.hint !== undefined) {
        text += `\r\n${dim(displayText(view.hint).slice(0, columns - 1))}`;
        below += 1;
      }
      const row = rows[at];
      const before = row === undefined ? '' : rowText(view, row, view.buffer.cursor);
      if (below > 0) text += `\x1b[${below}A`;
      if (below > 0 || view.buffer.cursor < view.buffer.text.length) text += `\r${before}`;
      canvas.write(text);
      drawn = { view, columns, above: rows.slice(first, at).map((above) => rowWidth(view, above)) };
    },
    leave({ prompt, buffer }) {
      const text = displayWithTokens(buffer.text, buffer.marks, 0, buffer.text.length, token).replaceAll('\n', '\r\n');
      canvas.write(`${home()}\x1b[J${displayText(prompt)}${text}\r\n`);
      drawn = null;
    },
    lift() {
      canvas.write(`${home()}\x1b[J`);
      drawn = null;
    },
    clear() {
      canvas.write('\x1b[H\x1b[2J');
      drawn = null;
    },
  };
}

/** The rows near the cursor, more than the terminal shows. Laying out the whole of a text of megabytes with each key would take seconds. */
function rowsAround({ prompt, buffer }: LineView, columns: number, height: number): readonly ScreenRow[] {
  const { text, cursor } = buffer;
  const reach = Math.max(4096, 2 * columns * height);
  const newlineBefore = text.lastIndexOf('\n', cursor - reach);
  const start = cursor <= reach ? 0 : Math.max(newlineBefore + 1, cursor - 2 * reach);
  const end = Math.min(text.length, cursor + reach);
  const rows = layOutRows(text.slice(start, end), columns, start === 0 ? displayWidth(prompt) : 0);
  return rows.map((row) => ({ ...row, start: row.start + start, end: row.end + start }));
}

const rowWidth = ({ prompt, buffer }: LineView, { start, end }: ScreenRow): number =>
  displayWidth(buffer.text.slice(start, end)) + (start === 0 ? displayWidth(prompt) : 0);

/** Whether only something plain was typed at the end, which needs no more than to be written there. */
function isAppended(drawn: LineView, view: LineView, columns: number): boolean {
  const [before, after] = [drawn.buffer, view.buffer];
  if (drawn.hint !== undefined || view.hint !== undefined || drawn.prompt !== view.prompt) return false;
  if (before.cursor !== before.text.length || after.cursor !== after.text.length) return false;
  if (after.text.length > columns || after.text.length <= before.text.length) return false;
  if (!after.text.startsWith(before.text)) return false;
  if (before.marks.length > 0 || after.marks.length > 0 || !/^[\x20-\x7e]+$/.test(after.text)) return false;
  return displayWidth(view.prompt) + after.text.length < columns;
}
