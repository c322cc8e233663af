import { stripVTControlCharacters } from 'node:util';
import { firstCharacters } from '../../chat/text.js';

/**
 * Controls except newlines and tabs, and invisible characters: a description must not tell the model what the user
 * cannot see.
 */
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cs}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A server's text without invisible characters, cut at `limit` characters. */
export function harmlessText(text: unknown, limit: number): string {
  if (typeof text !== 'string') return '';
  // Cut first, with a margin: cleaning ten megabytes would take too long.
  const seen = stripVTControlCharacters(firstCharacters(text, 8 * limit))
    .replace(UNSEEN, '')
    .trim();
  return seen.length <= limit ? seen : `${firstCharacters(seen, limit - 1)}…`;
}

/**
 * Invisible characters that no language needs: tags, zero-width spaces, fillers. Joiners and direction marks are
 * needed.
 */
const HIDDEN = /[\u{e0000}-\u{e0fff}\u200b\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164\uffa0]/gu;

/** A long text without hidden characters. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '');
}

/** The same on one line. */
export function harmlessLine(text: unknown, limit: number): string {
  return harmlessText(text, limit).replace(/\s+/g, ' ');
}
