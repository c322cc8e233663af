import { firstCharacters } from '../../chat/text/cut-text.js';

/** Controls but for newlines and tabs, and what no reader sees: a description may not say to the model what it does not say to the user. */
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cs}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A text of a server without what cannot be seen, cut at `limit` characters. */
export function harmlessText(text: unknown, limit: number): string {
  if (typeof text !== 'string') return '';
  const { stripVTControlCharacters } = process.getBuiltinModule('node:util');
  // Cut first, and with room: to go through ten megabytes of it would take longer than to leave them out.
  const seen = stripVTControlCharacters(firstCharacters(text, 8 * limit))
    .replace(UNSEEN, '')
    .trim();
  return seen.length <= limit ? seen : `${firstCharacters(seen, limit - 1)}…`;
}

/** What no language is written with, and a reader never sees: tags, zero-width blanks, fillers. Joiners and marks of direction belong to languages. */
const HIDDEN = /[\u{e0000}-\u{e0fff}\u200b\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164\uffa0]/gu;

/** A long text without what is hidden in it. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '');
}

/** The same in one line. */
export function harmlessLine(text: unknown, limit: number): string {
  return harmlessText(text, limit).replace(/\s+/g, ' ');
}
