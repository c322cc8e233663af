import { PLAIN, type Style, sgr } from './style.js';

/** Text with its styling, as few sequences as it takes. Every line ends plain, so that nothing of a style reaches what follows it. */
export class StyledText {
  #text = '';
  #style: Style = PLAIN;

  /** Adds text in that style. */
  put(text: string, style: Style): void {
    if (text === '') return;
    if (style !== this.#style) this.#change(style);
    this.#text += text;
  }

  /** Adds the end of a line. */
  endLine(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
    this.#text += '\n';
  }

  /** Makes what others write next plain; the style comes back with the next text. */
  pause(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
  }

  /** Hands over what was added since the last time. */
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
