import { linkTo } from './links.js';
import { PLAIN, type Style, sgr } from './style.js';

/** A piece of a line in one style. */
export interface Run {
  readonly text: string;
  readonly style: Style;
}

/** Collects styled text with as few escape sequences as possible. Every line ends plain, so that no style reaches what follows it. */
export class StyledText {
  /** Not one string that grows: that would be a tree of its pieces, several times as large. */
  #pieces: string[] = [];
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

  /** Adds text of a paragraph, in which a blank may become a newline. */
  putProse(text: string, style: Style): void {
    this.put(text, style);
  }

  /** Begins a paragraph, list item or quotation at this column. `prefix` is what each of its further rows would begin with. */
  beginProse(_prefix: readonly Run[], _column: number): void {}

  /** The rest of the line may not be wrapped. */
  endProse(): void {}

  /** The rest of the line waits for the next one, which may make a table of both; a long one does not. */
  hold(): void {}

  get isHeld(): boolean {
    return false;
  }

  /** The line that waits is the head of a table. */
  endTableHead(): void {}

  /** Adds what waits for more text, as far as that is not likely to change its place; `isStale` when none has come for long. */
  settle(_isStale: boolean): void {}

  /** Others have ended the line. */
  restartRow(): void {}

  /** Ends the line. */
  endLine(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
    this.#pieces.push('\n');
  }

  /** Makes plain what others write next. The style comes back with the next text. */
  pause(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
  }

  /** Returns what was added since the last call. */
  take(): string {
    if (this.#pieces.length === 0) return '';
    const text = this.#pieces.join('');
    this.#pieces = [];
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
