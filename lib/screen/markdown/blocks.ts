import { DIM, LONGEST_ROW, PLAIN, type Run, type Style, type StyledText } from '../text/styled-text.js';
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

  /**
   * A prefix as wide as the longest row is never repeated, so no more of it is kept: an endless line of markers would
   * fill the memory.
   */
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
export const CODE_INDENT = 4;

/**
 * Distinguishes prose from indented code, HTML and tables without outer bars, which depends on earlier lines
 * (CommonMark 4.4 and 4.6, GFM 4.10).
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

  /**
   * Whether a line of text is prose. `text` is the start of the line: its first two characters, or the delimiter row of
   * a table up to its first bar.
   */
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
