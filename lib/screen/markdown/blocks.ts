import { DIM, LONGEST_ROW, PLAIN, type Run, type Style, type StyledText, textWidth } from '../text/styled-text.js';
import type { Highlighter } from './languages.js';

/** Reads the start of a line, before its text: white space and the markers of lists and quotations. */
export class LineStartReader {
  #column = 0;
  #indent = 0;
  #firstIndent: number | null = null;
  #hasListMark = false;
  #canInterrupt = true;
  #quotations = 0;
  #prefix: Run[] = [];

  addBlank(blank: string): void {
    const width = [...blank].reduce((sum, character) => sum + (character === '\t' ? 4 : 1), 0);
    this.#column += width;
    this.#indent += width;
    this.#addPrefix(' '.repeat(width), PLAIN);
  }

  addMark(mark: string, style: Style): void {
    this.#firstIndent ??= this.#indent;
    this.#column += mark.length;
    this.#indent = 0;
    const isList = mark !== '>';
    if (!isList) this.#quotations += 1;
    this.#hasListMark ||= isList;
    this.#canInterrupt &&= !/^(?!0*1[.)])\d/.test(mark);
    if (isList) this.#addPrefix(' '.repeat(mark.length), PLAIN);
    else this.#addPrefix(mark, style);
  }

  /** A prefix as wide as the longest row is never repeated, so no more of it is kept: an endless line of markers would fill the memory. */
  #addPrefix(text: string, style: Style): void {
    if (this.#column - text.length <= LONGEST_ROW) this.#prefix.push({ text, style });
  }

  /** Whether the line has a marker. */
  get hasMark(): boolean {
    return this.#hasListMark || this.#quotations > 0;
  }

  get start(): LineStart {
    const [column, indent] = [this.#column, this.#indent];
    const firstIndent = this.#firstIndent ?? indent;
    const [quotations, hasListMark, canInterrupt] = [this.#quotations, this.#hasListMark, this.#canInterrupt];
    return { column, indent, firstIndent, quotations, hasListMark, canInterrupt };
  }

  /** What continuation rows of the same text start with: spaces in place of list markers. */
  get prefix(): readonly Run[] {
    return this.#prefix;
  }
}

/** The start of a line, up to its text. */
interface LineStart {
  /** The columns from the start of the line to its text. */
  readonly column: number;
  /** The columns from the last marker of a list or quotation, or from the start of the line, to its text. */
  readonly indent: number;
  /** The columns from the start of the line to its first marker, or to its text. */
  readonly firstIndent: number;
  readonly hasListMark: boolean;
  /** How deep it is in quotations. */
  readonly quotations: number;
  /** Whether its list markers can interrupt a paragraph. Numbers other than 1 cannot. */
  readonly canInterrupt: boolean;
}

/** The minimum indentation of a line of code. */
const CODE_INDENT = 4;

/**
 * Distinguishes prose from indented code, HTML and tables without outer bars, which depends on earlier lines (CommonMark 4.4 and 4.6,
 * GFM 4.10).
 */
export class BlockLines {
  /** The columns where the text of the open list items starts, outermost first. */
  #items: number[] = [];
  #quotations = 0;
  #isAfterBlank = true;
  #isInParagraph = false;
  #isCode = false;
  #isHtml = false;
  #isTable = false;

  addBlank(): void {
    this.#isAfterBlank = true;
    this.#isInParagraph = false;
    this.#isHtml = false;
    this.#isTable = false;
  }

  /** Adds a line that is neither blank nor text: a heading, a rule, or the start of a fence or a table. */
  addOther({ firstIndent }: LineStart): void {
    this.#leaveItems(firstIndent);
    this.#isAfterBlank = false;
    this.#isInParagraph = false;
  }

  /** Whether a line of text is prose. `text` is the start of the line: its first two characters, or the delimiter row of a table up to its first bar. */
  isProse(start: LineStart, text: string): boolean {
    if (start.quotations !== this.#quotations && !this.#isInParagraph) this.#items = [];
    if (!this.#isInParagraph || start.quotations > this.#quotations) this.#quotations = start.quotations;
    const isNext = (this.#isAfterBlank || start.hasListMark) && this.#leaveItems(start.firstIndent);
    const isDeep = start.firstIndent >= this.#inner() + CODE_INDENT;
    const isItem = start.hasListMark && !isDeep && (isNext || this.#mayBeginList(start));
    if (isItem) this.#openItem(start);
    const isText = (start.hasListMark || start.quotations > 0) && !isItem && this.#hasRepeatedMarks(start, isDeep);
    this.#isCode = isText || (isDeep && !this.#isInParagraph) || (isItem && start.indent > CODE_INDENT);
    this.#isAfterBlank = false;
    if (!this.#isCode && /^<[a-z!?/]/i.test(text)) this.#isHtml = true;
    if (/^:?-+:?[ \t]*\|/.test(text)) this.#isTable = true;
    const isParagraph = !this.#isTable && !this.#isCode && !this.#isHtml;
    this.#isInParagraph = isParagraph || (isText && this.#isInParagraph);
    return isParagraph && !/^(?:\$\$|\\\[)/.test(text);
  }

  #openItem({ column, indent }: LineStart): void {
    this.#items.push(indent > CODE_INDENT ? column - indent + 1 : column);
  }

  /** An item whose marker is left of the previous item's text ends the paragraph of that item. */
  #mayBeginList({ canInterrupt }: LineStart): boolean {
    return canInterrupt || !this.#isInParagraph || this.#items.length > 0;
  }

  /** Whether markers that are only text would be repeated when the line is wrapped. */
  #hasRepeatedMarks({ hasListMark, quotations }: LineStart, isDeep: boolean): boolean {
    if (quotations === 0 && this.#quotations === 0) return !this.#isInParagraph;
    return hasListMark || isDeep;
  }

  /** Closes the items that start right of `column`. Returns whether there were any. */
  #leaveItems(column: number): boolean {
    const before = this.#items.length;
    while (this.#inner() > column) this.#items.pop();
    return this.#items.length < before;
  }

  #inner(): number {
    return this.#items.at(-1) ?? 0;
  }
}

/** A longer line of code is shown as it arrives, without colours. */
const LONGEST_COLOURED = 1000;

/** The inside of a code fence, from the end of its first line to the end of its last line. */
export class Fence {
  /** Colours complete lines. Without one, code is shown as it arrives. */
  highlighter: Highlighter | null = null;
  isClosed = false;
  readonly #styled: StyledText;
  readonly #put: (text: string, style: Style) => void;
  readonly #closing: RegExp;
  readonly #maybeClosing: RegExp;
  #isAtStart = false;

  /** A fence opened by `marks`. At least as many of the same marks close it. */
  constructor(styled: StyledText, marks: string) {
    const mark = marks[0] ?? '';
    this.#styled = styled;
    this.#put = (text, style) => styled.put(text, style);
    this.#closing = new RegExp(`^[ \\t>]*${mark}{${marks.length},}[ \\t]*\\r?$`);
    this.#maybeClosing = new RegExp(`^[ \\t>]*(?:${mark}+[ \\t]*)?\\r?$`);
  }

  /** Like `Inline.scan`, but line by line. */
  scan(text: string, at: number, isLast: boolean): number {
    const newline = text.indexOf('\n', at);
    if (newline === at) {
      this.#styled.endLine();
      this.#isAtStart = true;
      return at + 1;
    }
    const line = text.slice(at, newline === -1 ? text.length : newline);
    const isComplete = newline !== -1 || isLast;
    if (this.#isAtStart) {
      const isColoured = this.highlighter !== null && line.length <= LONGEST_COLOURED;
      const mayClose = line.length <= LONGEST_COLOURED;
      if (!isComplete && mayClose && (isColoured || this.#maybeClosing.test(line))) return at;
      if (isComplete && mayClose && this.#closing.test(line)) return this.#close(at, line);
      if (isColoured) return this.#highlight(at, line);
    }
    this.#isAtStart = false;
    this.#styled.put(line, PLAIN);
    return at + line.length;
  }

  #close(at: number, line: string): number {
    this.#styled.put(line, DIM);
    this.isClosed = true;
    return at + line.length;
  }

  #highlight(at: number, line: string): number {
    this.highlighter?.(line, this.#put);
    return at + line.length;
  }
}

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

/** A longer delimiter row does not make a table, in characters. */
const LONGEST = 1024;

const DASHES = /^[ \t>]*[|:-][ \t|:-]*\r?(?:\n|$)/;
const BEGINNING = /^[ \t>]*(?:[|:-][ \t|:-]*\r?)?$/;

/** Whether the line that starts at `start` may be the delimiter row of a table, also within a quotation; null while that is not known. */
export function isAboveDashes(text: string, start: number, isLast: boolean): boolean | null {
  const line = text.slice(start, start + LONGEST);
  if (!isLast && line.length < LONGEST && BEGINNING.test(line)) return null;
  return DASHES.test(line);
}
