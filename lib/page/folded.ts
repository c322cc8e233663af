import { firstCharacters } from '../chat/text/cut-text.js';
import { escaped } from './escape.js';

/** So many characters of what a tool got or printed, or of a file that was attached, are shown. */
const SHOWN_LENGTH = 20_000;

/** A text that is folded under a line. `line` is HTML. A browser drops the newline that `pre` begins with. */
export function foldedText(kind: string, line: string, text: string): string {
  return `<details class="${kind}"><summary>${line}</summary><pre tabindex="0">\n${escaped(bounded(text))}</pre></details>`;
}

function bounded(text: string): string {
  return text.length <= SHOWN_LENGTH
    ? text
    : `${firstCharacters(text, SHOWN_LENGTH)}…\n(${text.length.toLocaleString('en')} characters)`;
}
