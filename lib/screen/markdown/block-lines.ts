/** The start of a line, up to its text. */
export interface LineStart {
  /** The columns from the start of the line to its text. */
  readonly column: number;
  /** The columns from the last mark of a list or quotation, or from the start of the line, to its text. */
  readonly indent: number;
  /** The columns from the start of the line to its first mark, or to its text. */
  readonly firstIndent: number;
  readonly hasListMark: boolean;
  /** How many quotations it is in. */
  readonly quotations: number;
  /** Whether its list marks begin a list also right after the text of a paragraph: numbers other than 1 do not. */
  readonly canInterrupt: boolean;
}

/** How far a line is indented at least to be code. */
const CODE_INDENT = 4;

/**
 * Tells lines of prose from indented code, HTML and tables without a bar at their side, which depends on the lines before (CommonMark 4.4 and 4.6,
 * GFM 4.10).
 */
export class BlockLines {
  /** The columns at which the text of the open list items begins, from the outermost on. */
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

  /** Adds a line that is neither blank nor text: a heading, a rule, the beginning of a fence or a table. */
  addOther({ firstIndent }: LineStart): void {
    this.#leaveItems(firstIndent);
    this.#isAfterBlank = false;
    this.#isInParagraph = false;
  }

  /** Whether a line of text is prose. `text` begins as the line does: its first two characters, or the dashes of a table and their first bar. */
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

  /** An item whose mark stands left of the text of the last one ends the paragraph of that one. */
  #mayBeginList({ canInterrupt }: LineStart): boolean {
    return canInterrupt || !this.#isInParagraph || this.#items.length > 0;
  }

  /** Whether marks that begin nothing, and so are text, would be repeated by a further row. */
  #hasRepeatedMarks({ hasListMark, quotations }: LineStart, isDeep: boolean): boolean {
    if (quotations === 0 && this.#quotations === 0) return !this.#isInParagraph;
    return hasListMark || isDeep;
  }

  /** Whether there were any that begin right of `column`. */
  #leaveItems(column: number): boolean {
    const before = this.#items.length;
    while (this.#inner() > column) this.#items.pop();
    return this.#items.length < before;
  }

  #inner(): number {
    return this.#items.at(-1) ?? 0;
  }
}
