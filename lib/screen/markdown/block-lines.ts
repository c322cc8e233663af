/** The start of a line, up to its text. */
export interface LineStart {
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
