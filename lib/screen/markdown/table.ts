import { textWidth } from '../text/text-width.js';

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

/** Collects the lines of a table (GFM) until it is complete, and aligns its columns. */
export class Table {
  readonly #lines: TableLine[] = [];
  /** How the columns are aligned; null if the second line is not a delimiter row with as many cells as the first line. */
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

  /** The lines, aligned if they then fit into `columns`, else as received. If `isTable`, the second line is the delimiter row. */
  lines(columns: number): { readonly lines: readonly TableLine[]; readonly isTable: boolean } {
    const alignments = this.#alignments;
    if (alignments === null) return { lines: this.#lines, isTable: false };
    const rows = this.#lines.map(({ text }) => cellsOf(text));
    const widths = widthsOf(rows);
    const total = widths.reduce((sum, width) => sum + width + 3, 1);
    if (total + (this.#lines[1]?.indent.length ?? 0) > columns) return { lines: this.#lines, isTable: true };
    const lines = this.#lines.map((line, index) => ({
      ...line,
      text: index === 1 ? dashes(widths, alignments) : aligned(rows[index] ?? [], widths, alignments),
    }));
    return { lines, isTable: true };
  }
}

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

/** The widths of the columns. The delimiter row does not count: it becomes as wide as the others. */
function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  rows.forEach((cells, row) => {
    cells.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 1, row === 1 ? 1 : textWidth(cell));
    });
  });
  return widths;
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

function aligned(cells: readonly string[], widths: readonly number[], alignments: readonly Alignment[]): string {
  return `|${cells.map((cell, column) => ` ${padded(cell, widths[column] ?? 0, alignments[column] ?? 'none')} `).join('|')}|`;
}

function padded(cell: string, width: number, alignment: Alignment): string {
  const room = Math.max(0, width - textWidth(cell));
  const left = alignment === 'right' ? room : alignment === 'center' ? Math.floor(room / 2) : 0;
  return `${' '.repeat(left)}${cell}${' '.repeat(room - left)}`;
}
