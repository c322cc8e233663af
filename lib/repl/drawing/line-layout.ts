import truncatedWidth from 'fast-string-truncated-width';
import { neutralise } from '../../screen/text/neutralise.js';
import { afterNewline, endOfLine, graphemes, type MarkedRange } from '../editing/edit-buffer.js';

/** One row of the terminal and the range of the text it shows. */
export interface ScreenRow {
  readonly start: number;
  readonly end: number;
  /** Whether the text reaches the last column. */
  readonly isFull: boolean;
}

/** The text as it is printed: control characters are replaced and tabs are four spaces wide. Newlines are kept. */
export function displayText(text: string): string {
  return neutralise(text).replaceAll('\t', '    ').replaceAll('\r\n', '\n');
}

/** The width of the printed text in columns. Terminals disagree about some emoji; this is the common answer. */
export function displayWidth(text: string): number {
  return truncatedWidth(displayText(text)).width;
}

/**
 * Splits a text into rows of `columns` columns; the first row starts at column `indent`. A wide character that does not
 * fit moves to the next row as a whole, as in terminals. A text that fills its last row exactly gets one more, empty
 * row for the cursor.
 */
export function layOutRows(text: string, columns: number, indent: number): readonly ScreenRow[] {
  const rows = new RowBuilder(text, columns, indent);
  for (let from = 0; ; ) {
    const to = endOfLine(text, from);
    if (/^[\x20-\x7e]*$/.test(text.slice(from, to))) rows.addPlain(from, to);
    else rows.addWide(from, to);
    if (to === text.length) return rows.finish();
    from = afterNewline(text, to);
    rows.close(to, from);
  }
}

/** Collects the rows of a text that is added range by range. */
class RowBuilder {
  readonly #rows: ScreenRow[] = [];
  readonly #text: string;
  readonly #columns: number;
  #start = 0;
  #column: number;

  constructor(text: string, columns: number, indent: number) {
    this.#text = text;
    this.#columns = columns;
    this.#column = indent;
  }

  /** Adds a range in which each character takes one column. */
  addPlain(from: number, to: number): void {
    for (let at = from; at < to; ) {
      if (this.#column >= this.#columns) this.close(at, at);
      const taken = Math.min(to - at, Math.max(1, this.#columns - this.#column));
      this.#column += taken;
      at += taken;
    }
  }

  addWide(from: number, to: number): void {
    for (const { segment, index } of graphemes(this.#text.slice(from, to))) {
      const width = isPlain(segment) ? 1 : displayWidth(segment);
      if (this.#column > 0 && this.#column + width > this.#columns) this.close(from + index, from + index);
      this.#column += width;
    }
  }

  /** Ends the row at `end`; the next one starts at `next`. */
  close(end: number, next: number): void {
    this.#rows.push({ start: this.#start, end, isFull: this.#column >= this.#columns });
    this.#start = next;
    this.#column = 0;
  }

  finish(): readonly ScreenRow[] {
    const { length } = this.#text;
    if (this.#column >= this.#columns) this.close(length, length);
    this.close(length, length);
    return this.#rows;
  }
}

/** A shortcut for the usual case: looking the width up is slow. */
const isPlain = (segment: string): boolean => segment.length === 1 && segment >= ' ' && segment < '\x7f';

/** The index of the row that contains the offset. */
export function rowIndexAt(rows: readonly ScreenRow[], offset: number): number {
  let found = 0;
  for (const [index, row] of rows.entries()) if (row.start <= offset) found = index;
  return found;
}

/** The printed text from `start` to `end`, with its tokens passed through `colour`. */
export function displayWithTokens(
  text: string,
  marks: readonly MarkedRange[],
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
      displayText(text.slice(from, Math.max(from, mark.start))) +
      colour(displayText(text.slice(Math.max(from, mark.start), stop)));
    from = stop;
  }
  return shown + displayText(text.slice(from, end));
}
