import { DIM, PLAIN, type Style } from '../text/style.js';
import type { StyledText } from '../text/styled-text.js';
import type { Highlighter } from './highlight.js';

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
