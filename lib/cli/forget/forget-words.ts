import { isCompressBlock, isMessage } from '../../chat/entry.js';
import { citedIn } from '../../chat/marked-text.js';
import type { ForgetOrder } from '../../chat/occurrence.js';
import { HiError } from '../../errors.js';
import type { HistoryStore } from '../../history/store.js';
import { parseTime } from '../../recall/show/when.js';

/** What to forget, as given by the user. */
export interface ForgetWords {
  /** A text, or ids as in `#12 #14`. */
  readonly text: string;
  readonly since?: string;
  readonly last?: boolean;
}

/** Parses the argument of `/forget`: `#12`, `--since yesterday`, `--last`, or a text, in quotes or not. */
export function parseForgetWords(argument: string): ForgetWords {
  if (argument === '--last') return { text: '', last: true };
  if (/^--since(?![\w-])/.test(argument))
    return { text: '', since: argument.slice('--since'.length).replace(/^[ =]+/, '') };
  const [, quoted] = /^"(.*)"$/s.exec(argument) ?? [];
  return { text: quoted ?? argument };
}

/** The order for these words. Throws a `HiError` of code `usage`. */
export async function orderOf(words: ForgetWords, history: HistoryStore, now: Date): Promise<ForgetOrder> {
  const text = words.text.trim();
  const given = [text !== '', words.since !== undefined, words.last === true].filter(Boolean).length;
  if (given !== 1) {
    throw new HiError(
      'usage',
      given === 0 ? 'Nothing given to forget.' : 'Only one thing can be forgotten at a time.',
      {
        hint: "Give a text, a message ('#12', in quotes for the shell), --since TIME or --last.",
      },
    );
  }
  if (words.since !== undefined) {
    return { kind: 'since', from: parseTime(words.since, now, false) };
  }
  if (words.last === true) return { kind: 'messages', ids: await lastTurn(history) };
  if (!/^#\d{1,15}(?:\s+#\d{1,15})*$/.test(text)) return { kind: 'text', text };
  return { kind: 'messages', ids: await knownIds(text.split(/\s+/), history) };
}

/** The messages of the turn that began last. */
async function lastTurn(history: HistoryStore): Promise<readonly number[]> {
  let last = 0;
  let ids: number[] = [];
  for await (const entry of history.archive()) {
    if ('type' in entry || entry.content.length === 0 || entry.turn < last) continue;
    if (entry.turn > last) ids = [];
    last = entry.turn;
    ids.push(entry.id);
  }
  return ids;
}

async function knownIds(names: readonly string[], history: HistoryStore): Promise<readonly number[]> {
  const wanted = new Set(names.map((name) => Number(name.slice(1))));
  const unknown = new Set(wanted);
  for await (const entry of history.archive()) {
    if (isMessage(entry)) unknown.delete(entry.id);
    // A summary may rest on messages that were removed.
    else if (isCompressBlock(entry)) for (const id of citedIn(entry.content)) unknown.delete(id);
  }
  const [first] = unknown;
  if (first === undefined) return [...wanted];
  throw new HiError('usage', `There is no message #${first}.`, { hint: "'hi recall TEXT' shows the ids of messages." });
}
