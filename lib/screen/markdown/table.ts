import { BOLD, DIM, LONGEST_ROW, PLAIN, StyledText, textWidth } from '../text/styled-text.js';
import { WrappedText } from '../text/wrapped-text.js';
import { Inline } from './inline.js';

/** A line of a table as received, and whether its newline was received too. */
export interface TableLine {
  readonly indent: string;
  readonly text: string;
  readonly isEnded: boolean;
}

/** A longer table is shown as it arrives. */
const MOST_LINES = 500;

/** A table with more text is not aligned, in characters. */
const MOST_TEXT = 131_072;

type Alignment = 'none' | 'left' | 'center' | 'right';

type Row = readonly string[];

/** Collects the lines of a table (GFM) until it is complete, and writes it with aligned columns. */
export class Table {
  readonly #lines: TableLine[] = [];
  /**
   * How the columns are aligned; null if the second line is not a delimiter row with as many cells as the first line.
   */
  #alignments: readonly Alignment[] | null = null;
  #length = 0;

  add(line: TableLine): void {
    this.#lines.push(line);
    this.#length += line.text.length;
    if (this.#lines.length === 2) this.#alignments = alignmentsOf(line, this.#lines[0]);
  }

  get length(): number {
    return this.#lines.length;
  }

  /** Whether these lines turn out not to be a table, or are too many to wait for more. */
  get isOver(): boolean {
    const isLong = this.#lines.length >= MOST_LINES || this.#length > MOST_TEXT;
    return isLong || (this.#lines.length > 1 && this.#alignments === null);
  }

  /**
   * Writes the table in at most `columns`. If it is wider, its cells wrap at words; where a column would then break a
   * word or have fewer than twelve columns, each field gets a line `Header: value`. Lines that are no table are written
   * as received.
   */
  write(styled: StyledText, columns: number, links: boolean): void {
    const writer = new TableWriter(styled, this.#lines[1]?.indent ?? '', links);
    if (this.#alignments === null) {
      for (const line of this.#lines) writer.received(line);
      return;
    }
    const rows = this.#lines.filter((_, index) => index !== 1).map(({ text }) => cellsOf(text));
    const widths = widthsWithin(columns - writer.indent.length, rows);
    if (widths === null) writer.fields(rows);
    else writer.table(rows, widths, this.#alignments);
    if (this.#lines.at(-1)?.isEnded) styled.endLine();
  }
}

/** Writes the lines of a table, but for the newline of the last one. */
class TableWriter {
  readonly #styled: StyledText;
  readonly #links: boolean;
  readonly #inline: Inline;
  readonly indent: string;
  #isBegun = false;

  constructor(styled: StyledText, indent: string, links: boolean) {
    this.#styled = styled;
    this.#links = links;
    this.#inline = new Inline(styled, links);
    this.indent = indent;
  }

  received({ indent, text, isEnded }: TableLine): void {
    this.#styled.put(indent, PLAIN);
    this.#inline.begin(PLAIN, true, '\n');
    this.#inline.scan(text, 0, true);
    if (isEnded) this.#styled.endLine();
  }

  table(rows: readonly Row[], room: readonly number[], alignments: readonly Alignment[]): void {
    const linesOf = (cell: string, width: number) => wrapped(cell, width, this.#styled.hasColour, this.#links);
    const cells = rows.map((row) => room.map((width, column) => linesOf(row[column] ?? '', width)));
    const widths = room.map((_, column) => most(cells.flatMap((row) => row[column] ?? []).map(({ width }) => width)));
    // Where a first cell wraps, nothing else would show where the next row begins.
    const isSpaced = cells.some(([first]) => first !== undefined && first.length > 1);
    cells.forEach((row, index) => {
      if (index === 1) this.#dashes(widths, alignments);
      if (index > 1 && isSpaced) this.#row(widths.map((width) => ' '.repeat(width)));
      const height = most(row.map(({ length }) => length));
      for (let line = 0; line < height; line += 1)
        this.#row(widths.map((width, column) => padded(row[column]?.[line], width, alignments[column] ?? 'none')));
    });
    if (cells.length === 1) this.#dashes(widths, alignments);
  }

  /** A line for each field, and an empty one between rows. */
  fields([head = [], ...rows]: readonly Row[]): void {
    if (rows.length === 0) this.#beginLine();
    rows.forEach((row, index) => {
      if (index > 0) this.#beginLine();
      row.forEach((cell, column) => {
        this.#beginLine();
        this.#field(head[column] ?? '', cell);
      });
    });
  }

  #field(name: string, value: string): void {
    this.#styled.beginProse([{ text: `${this.indent}  `, style: PLAIN }], this.indent.length);
    if (name !== '') {
      this.#inline.begin(BOLD, false, '\n');
      this.#inline.scan(name, 0, true);
      this.#styled.put(':', BOLD);
      this.#styled.putProse(' ', PLAIN);
    }
    this.#inline.begin(PLAIN, false, ' ');
    this.#inline.scan(value, 0, true);
    this.#styled.endProse();
  }

  #dashes(widths: readonly number[], alignments: readonly Alignment[]): void {
    this.#beginLine();
    this.#styled.put(dashes(widths, alignments), DIM);
  }

  #row(cells: readonly string[]): void {
    this.#beginLine();
    for (const cell of cells) {
      this.#styled.put('|', DIM);
      this.#styled.put(` ${cell} `, PLAIN);
    }
    this.#styled.put('|', DIM);
  }

  #beginLine(): void {
    if (this.#isBegun) this.#styled.endLine();
    this.#isBegun = true;
    this.#styled.put(this.indent, PLAIN);
  }
}

/** A line of a cell, with its width on the terminal. */
interface CellLine {
  readonly styled: string;
  readonly width: number;
}

/** The lines of a cell of this width, broken between words. A longer word gets a longer line. */
function wrapped(cell: string, width: number, hasColour: boolean, links: boolean): readonly CellLine[] {
  const isShort = textWidth(cell) <= width;
  const lines = (text: StyledText): readonly string[] => {
    text.beginProse([], 0);
    const inline = new Inline(text, links);
    inline.begin(PLAIN, false, ' ');
    inline.scan(cell, 0, true);
    text.endProse();
    text.pause();
    return text.take().split('\n');
  };
  const make = (colour: boolean) => (isShort ? new StyledText(colour) : new WrappedText(() => Infinity, colour, width));
  const plain = lines(make(false));
  return (hasColour ? lines(make(true)) : plain).map((styled, line) => ({
    styled,
    width: textWidth(plain[line] ?? ''),
  }));
}

/** A narrower column is hard to read. */
const LEAST_WIDTH = 12;

/**
 * The widths of the columns of a table that has this many columns of the terminal: as wide as their cells, or with
 * cells that wrap. What room there is then goes to the narrowest column that needs it. Null if a word would not fit, or
 * a column would be too narrow.
 */
function widthsWithin(columns: number, rows: readonly Row[]): readonly number[] | null {
  const natural = widthsOf(rows, textWidth);
  const room = columns - 3 * natural.length - 1;
  if (sum(natural) <= room) return natural;
  const longest = widthsOf(rows, (cell) => most(wrapped(cell, 1, false, false).map(({ width }) => width)));
  const wanted = natural.map((width, column) => Math.max(longest[column] ?? 1, Math.min(width, LONGEST_ROW)));
  const widths = wanted.map((width, column) => Math.max(longest[column] ?? 1, Math.min(width, LEAST_WIDTH)));
  for (let left = room - sum(widths); left > 0; left -= 1) {
    const growing = widths.map((width, column) => (width < (wanted[column] ?? 0) ? width : Infinity));
    const narrowest = growing.reduce((least, width) => Math.min(least, width), Infinity);
    if (narrowest === Infinity) break;
    widths[growing.indexOf(narrowest)] = narrowest + 1;
  }
  return sum(widths) <= room ? widths : null;
}

/** The largest width of the cells of each column, at least one. */
function widthsOf(rows: readonly Row[], widthOf: (cell: string) => number): readonly number[] {
  const widths: number[] = [];
  for (const cells of rows)
    cells.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 1, widthOf(cell));
    });
  return widths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const most = (numbers: readonly number[]): number => numbers.reduce((largest, one) => Math.max(largest, one), 0);

function alignmentsOf(dashes: TableLine, head: TableLine | undefined): readonly Alignment[] | null {
  const cells = cellsOf(dashes.text);
  if (head === undefined || !cells.every((cell) => /^:?-+:?$/.test(cell))) return null;
  return cells.length === cellsOf(head.text).length ? cells.map((cell) => alignmentOf(cell)) : null;
}

function alignmentOf(dashes: string): Alignment {
  if (dashes.endsWith(':')) return dashes.startsWith(':') ? 'center' : 'right';
  return dashes.startsWith(':') ? 'left' : 'none';
}

/** The cells of a row. An escaped bar belongs to its cell. */
function cellsOf(row: string): readonly string[] {
  const text = row.trim();
  const cells: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '|') {
      cells.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  cells.push(text.slice(start).trim());
  return cells.slice(1, cells.at(-1) === '' && cells.length > 2 ? -1 : undefined);
}

function dashes(widths: readonly number[], alignments: readonly Alignment[]): string {
  const cells = alignments.map((alignment, column) => {
    const width = (widths[column] ?? 1) + 2;
    const left = alignment === 'left' || alignment === 'center' ? ':' : '-';
    const right = alignment === 'right' || alignment === 'center' ? ':' : '-';
    return `${left}${'-'.repeat(width - 2)}${right}`;
  });
  return `|${cells.join('|')}|`;
}

function padded(line: CellLine | undefined, width: number, alignment: Alignment): string {
  const { styled, width: used } = line ?? { styled: '', width: 0 };
  const room = Math.max(0, width - used);
  const left = alignment === 'right' ? room : alignment === 'center' ? Math.floor(room / 2) : 0;
  return `${' '.repeat(left)}${styled}${' '.repeat(room - left)}`;
}

/** A longer delimiter row does not make a table, in characters. */
const LONGEST = 1024;

const DASHES = /^[ \t>]*[|:-][ \t|:-]*\r?(?:\n|$)/;
const BEGINNING = /^[ \t>]*(?:[|:-][ \t|:-]*\r?)?$/;

/**
 * Whether the line that starts at `start` may be the delimiter row of a table, also within a quotation; null while that
 * is not known.
 */
export function isAboveDashes(text: string, start: number, isLast: boolean): boolean | null {
  const line = text.slice(start, start + LONGEST);
  if (!isLast && line.length < LONGEST && BEGINNING.test(line)) return null;
  return DASHES.test(line);
}
