import { firstCharacters } from '../../chat/text/cut-text.js';

/** How many characters of a message are shown. */
const LENGTH = 60;

/** The start of a text on one line. */
export function beginningOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LENGTH ? line : `${firstCharacters(line, LENGTH - 1)}…`;
}
