import { linkTo } from './links.js';
import { PLAIN, type Style, sgr } from './style.js';

/** A piece of a line in one style. */
export interface Run {
  readonly text: string;
  readonly style: Style;
}

/** Collects styled text with as few escape sequences as possible. Every line ends plain, so that no style reaches what follows it. */
export class StyledText {
  /** Not one growing string: V8 would keep it as a tree of its pieces, several times as large. */
  readonly #pieces: string[] = [];
  #style: Style = PLAIN;
  #link = '';
  readonly #hasColour: boolean;

  constructor(hasColour = true) {
    this.#hasColour = hasColour;
  }

  /** Adds text in a style. */
  put(text: string, style: Style): void {
    if (text === '') return;
    if (style !== this.#style) this.#change(style);
    this.#pieces.push(text);
  }

  /** Adds text of a paragraph, in which a space may become a newline. */
  putProse(text: string, style: Style): void {
    this.put(text, style);
  }

  /** Starts a paragraph, list item or quotation at this column. Each continuation row would start with `prefix`. */
  beginProse(_prefix: readonly Run[], _column: number): void {}

  /** Stops wrapping for the rest of the line. */
  endProse(): void {}

  /** Holds back the rest of the line until the next line, which may turn both into a table. A long line is not held back. */
  hold(): void {}

  get isHeld(): boolean {
    return false;
  }

  /** The held line turned out to be the head of a table. */
  endTableHead(): void {}

  /** Adds pending text, as far as more text is unlikely to move it; `isStale` if no text has come for a while. */
  settle(_isStale: boolean): void {}

  /** Another writer ended the line. */
  restartRow(): void {}

  /** Ends the line. */
  endLine(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
    this.#pieces.push('\n');
  }

  /** Makes text written by others plain. The style comes back with the next text. */
  pause(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
  }

  /** Returns what was added since the last call. */
  take(): string {
    if (this.#pieces.length === 0) return '';
    const text = this.#pieces.join('');
    // A new array would begin as one of small integers, and each put into it undo what V8 has optimised.
    this.#pieces.length = 0;
    return text;
  }

  #change(style: Style): void {
    this.#style = style;
    if (!this.#hasColour) return;
    const end = style.indexOf('\0');
    const link = end === -1 ? '' : style.slice(end + 1);
    if (link !== this.#link) this.#pieces.push(linkTo(link));
    this.#link = link;
    this.#pieces.push(sgr(end === -1 ? style : style.slice(0, end)));
  }
}
