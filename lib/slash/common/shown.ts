import { firstCharacters } from '../../chat/text.js';
import { HiError, isAbort } from '../../errors.js';
import type { Which } from '../../session/pinned-messages.js';
import type { LastTurn } from '../../session/session.js';
import type { ModelServer } from './command.js';

/** Formats rows as two aligned columns. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = rows.reduce((widest, [left]) => Math.max(widest, left.length), 0);
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`).join('\n');
}

/** How many characters of a message are shown. */
const LENGTH = 60;

/** The start of a text on one line. */
export function beginningOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LENGTH ? line : `${firstCharacters(line, LENGTH - 1)}…`;
}

/** A turn as messages name it. */
export const turnName = ({ id, text }: Pick<LastTurn, 'id' | 'text'>): string => `#${id} · ${beginningOf(text)}`;

/** Says why a turn is not the last one of this chat. */
export function notOwnLine({ notOwn, ...named }: LastTurn): string {
  const turn = `${turnName(named)}.`;
  return notOwn === 'removed'
    ? `What you said last was forgotten. The turn before it: ${turn}`
    : `The newest turn was said in another window or program: ${turn}`;
}

/** What to do about it without a question: `command` is what was typed. */
export const notOwnHint = ({ notOwn }: Pick<LastTurn, 'notOwn'>, command: string): string =>
  notOwn === 'removed' ? `type ${command} in a terminal.` : `${command.slice(1)} it in the chat that said it.`;

/** Turns a cancelled choice into null: nothing was started that could be interrupted. */
export function noneWhenCancelled(thrown: unknown): null {
  if (isAbort(thrown)) return null;
  throw thrown;
}

/**
 * Parses how a command names a message: `2` for the second newest, `#12` for the one with that id. Throws a `HiError`
 * of code `usage`.
 */
export function whichMessage(argument: string, usage: string): Which {
  const [, sign, digits = ''] = /^(#?)(\d{1,15})$/.exec(argument) ?? [];
  const number = Number(digits);
  if (digits === '' || number === 0) {
    throw new HiError('usage', `Invalid message '${argument}'.`, { hint: `Type: ${usage}` });
  }
  return sign === '' ? { place: number } : { id: number };
}

/** The servers as a table, a line each, the one in use first and marked. */
export const serverTable = (rows: readonly ModelServer[]): string =>
  columns(rows.map(({ name, text }, at) => [`${at === 0 ? '*' : ' '} ${name}`, text]));
