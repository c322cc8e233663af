import truncatedWidth from 'fast-string-truncated-width';
import { neutralise } from '../screen/sanitize.js';
import { afterNewline, endOfLine, type Mark } from './buffer.js';
import { graphemes } from './grapheme.js';

/** One row of the terminal: the stretch of the text it shows. */
export interface ScreenRow {
  readonly start: number;
  readonly end: number;
  /** True when its last column is taken. */
  readonly isFull: boolean;
}

/** What a stretch of text looks like on the screen: one line for one line, nothing in it that a terminal obeys. */
export function display(text: string): string {
  return neutralise(text).replaceAll('\t', '    ').replaceAll('\r\n', '\n');
}

/** How many columns the terminal gives to what `display` makes of a text. Terminals disagree about some emoji; this is the common answer. */
export function widthOf(text: string): number {
  return truncatedWidth(display(text)).width;
}

/**
 * The rows a text takes in a terminal of that width when its first row begins at column `indent`. As terminals do, a wide character that
 * does not fit goes to the next row as a whole. A text that fills its last row exactly ends with an empty row, where the cursor goes.
 */
export function layout(text: string, columns: number, indent: number): readonly ScreenRow[] {
  const rows: ScreenRow[] = [];
  let start = 0;
  let column = indent;

  function close(end: number, next: number): void {
    rows.push({ start, end, isFull: column >= columns });
    start = next;
    column = 0;
  }

  function layPlain(from: number, to: number): void {
    for (let at = from; at < to; ) {
      if (column >= columns) close(at, at);
      const taken = Math.min(to - at, Math.max(1, columns - column));
      column += taken;
      at += taken;
    }
  }

  function layWide(from: number, to: number): void {
    for (const { segment, index } of graphemes(text.slice(from, to))) {
      const width = isPlain(segment) ? 1 : widthOf(segment);
      if (column > 0 && column + width > columns) close(from + index, from + index);
      column += width;
    }
  }

  for (let from = 0; ; ) {
    const to = endOfLine(text, from);
    if (/^[\x20-\x7e]*$/.test(text.slice(from, to))) layPlain(from, to);
    else layWide(from, to);
    if (to === text.length) break;
    from = afterNewline(text, to);
    close(to, from);
  }
  if (column >= columns) close(text.length, text.length);
  close(text.length, text.length);
  return rows;
}

/** The usual case, for which asking the tables would take too long. */
const isPlain = (segment: string): boolean => segment.length === 1 && segment >= ' ' && segment < '\x7f';

/** The index of the row in which the cursor at that offset stands. */
export function rowAt(rows: readonly ScreenRow[], offset: number): number {
  let found = 0;
  for (const [index, row] of rows.entries()) if (row.start <= offset) found = index;
  return found;
}

/** The stretch of a text as it is displayed, its tokens set off by `colour`. */
export function displayMarked(
  text: string,
  marks: readonly Mark[],
  start: number,
  end: number,
  colour: (text: string) => string,
): string {
  let shown = '';
  let from = start;
  for (const mark of marks) {
    if (mark.kind !== 'token' || mark.end <= from || mark.start >= end) continue;
    const stop = Math.min(mark.end, end);
    shown +=
      display(text.slice(from, Math.max(from, mark.start))) +
      colour(display(text.slice(Math.max(from, mark.start), stop)));
    from = stop;
  }
  return shown + display(text.slice(from, end));
}
