import { firstCharacters } from '../../chat/text.js';
import type { LastTurn } from '../../session/session.js';

/** How many characters of a message are shown. */
const LENGTH = 60;

/** The start of a text on one line. */
export function beginningOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LENGTH ? line : `${firstCharacters(line, LENGTH - 1)}…`;
}

/** Says that a turn is not of this chat. */
export const saidElsewhere = ({ id, text }: LastTurn): string =>
  `The newest turn was said in another window or program: #${id} · ${beginningOf(text)}.`;
