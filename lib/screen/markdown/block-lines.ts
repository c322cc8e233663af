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
    if (this.#isAfterBlank || start.hasListMark) this.#leaveItems(start.firstIndent);
    const isDeep = start.firstIndent >= this.#inner() + CODE_INDENT;
    const isItem =
      start.hasListMark && !isDeep && (start.canInterrupt || !this.#isInParagraph || this.#items.length > 0);
    if (isItem) this.#openItem(start);
    // Marks that begin nothing are text, which a further row must not repeat.
    const isText = (start.hasListMark && !isItem) || (start.quotations > 0 && isDeep);
    this.#isCode = isText || (isDeep && !this.#isInParagraph) || (isItem && start.indent > CODE_INDENT);
    this.#isAfterBlank = false;
    if (!this.#isCode && /^<[a-z!?/]/i.test(text)) this.#isHtml = true;
    if (/^:?-+:?[ \t]*\|/.test(text)) this.#isTable = true;
    const isProse = !this.#isTable && !this.#isCode && !this.#isHtml && !/^(?:\$\$|\\\[)/.test(text);
    this.#isInParagraph = isProse;
    return isProse;
  }

  #openItem({ column, indent }: LineStart): void {
    this.#items.push(indent > CODE_INDENT ? column - indent + 1 : column);
  }

  #leaveItems(column: number): void {
    while (this.#inner() > column) this.#items.pop();
  }

  #inner(): number {
    return this.#items.at(-1) ?? 0;
  }
}
