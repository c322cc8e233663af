import { firstCharacters } from '../chat/text/cut-text.js';
import { escaped } from './escape.js';

/** How many characters of a tool's input or output, or of an attached file, are shown. */
const SHOWN_LENGTH = 20_000;

/** A text folded under a line, which is HTML. Browsers drop the newline at the start of `pre`. */
export function foldedText(kind: string, line: string, text: string): string {
  return `<details class="${kind}"><summary>${line}</summary><pre tabindex="0">\n${escaped(bounded(text))}</pre></details>`;
}

function bounded(text: string): string {
  return text.length <= SHOWN_LENGTH
    ? text
    : `${firstCharacters(text, SHOWN_LENGTH)}…\n(${text.length.toLocaleString('en')} characters)`;
}
