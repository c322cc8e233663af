import { PLAIN, type Style } from '../text/style.js';
import type { Run } from '../text/styled-text.js';
import { LONGEST_ROW } from '../text/text-width.js';
import type { LineStart } from './block-lines.js';

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
