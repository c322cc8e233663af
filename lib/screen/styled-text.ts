import { PLAIN, type Style, sgr } from './style.js';

/** Collects styled text with as few escape sequences as possible. Every line ends plain, so that no style reaches what follows it. */
export class StyledText {
  #text = '';
  #style: Style = PLAIN;

  /** Adds text in a style. */
  put(text: string, style: Style): void {
    if (text === '') return;
    if (style !== this.#style) this.#change(style);
    this.#text += text;
  }

  /** Ends the line. */
  endLine(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
    this.#text += '\n';
  }

  /** Makes plain what others write next. The style comes back with the next text. */
  pause(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
  }

  /** Returns what was added since the last call. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  #change(style: Style): void {
    this.#text += sgr(style);
    this.#style = style;
  }
}
