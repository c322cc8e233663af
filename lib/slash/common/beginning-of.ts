import { firstCharacters } from '../../chat/text/cut-text.js';

/** So many characters of a message are enough to know it by. */
const LENGTH = 60;

/** The beginning of a text in one line. */
export function beginningOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LENGTH ? line : `${firstCharacters(line, LENGTH - 1)}…`;
}
