import { HiError } from '../../errors.js';
import type { Which } from '../../session/pinned-messages.js';

/** Parses how a command names a message: `2` for the second newest, `#12` for the one with that id. Throws a `HiError` of code `usage`. */
export function whichMessage(argument: string, usage: string): Which {
  const [, sign, digits = ''] = /^(#?)(\d{1,15})$/.exec(argument) ?? [];
  const number = Number(digits);
  if (digits === '' || number === 0) {
    throw new HiError('usage', `Invalid message '${argument}'.`, { hint: `Type: ${usage}` });
  }
  return sign === '' ? { place: number } : { id: number };
}
