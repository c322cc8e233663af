import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { exclusively, removeUnfinished } from '../../books/book.js';
import { isCompressBlock, isMessage } from '../../chat/entry.js';
import { citedIn } from '../../chat/marked-text.js';
import type { Message } from '../../chat/message.js';
import { type ForgetOrder, occurrenceOf } from '../../chat/occurrence.js';
import { firstCharacters, localMinute, quantity } from '../../chat/text.js';
import { fullText } from '../../chat/transcript.js';
import type { Paths } from '../../config/paths.js';
import { HiError, systemCode } from '../../errors.js';
import { type Forgettable, type ForgettableCopy, isNothing } from '../../history/forget/copies.js';
import type { ForgottenName } from '../../history/forget-everywhere.js';
import type { HistoryStore } from '../../history/store.js';
import { parseTime } from '../../recall/show/passage.js';
import type { Forgetting } from '../../slash/common/command.js';
import { ownFilesWith, type Place, placesOf, tracesOf } from './places.js';

/** The number of characters shown of a message. */
const SHOWN = 60;

/** What a text is not looked for in. */
export function notSearched(): string {
  return 'Not searched: what pictures show and recordings say, letters that the font of a PDF numbers in its own way, and notes of hi: names of models, servers and tools, ids of calls, usage.';
}

const NOT_REACHED =
  'Not removed: what was sent to a vendor, the scrollback of the terminal, the history of your shell, files that you saved or exported, backups, and other machines.';

/**
 * Everything that an order removes, to show and then do; null if there is nothing. With `named` a mark of it stays.
 * Throws a `HiError`.
 */
export async function forgetting(
  order: ForgetOrder,
  history: HistoryStore,
  paths: Paths,
  named: ForgottenName | null = null,
): Promise<Forgetting | null> {
  const found = await history.findForgettable(order);
  const places = placesFor(order, found, paths);
  if (isNothing(found) && places.every(({ what }) => what.length === 0)) {
    // Completes an earlier run that was killed.
    await besideNoImport(order, paths, async () => {
      await history.forget(order, () => undefined);
      for (const place of places) remove(place);
    });
    return null;
  }
  return {
    messages: found.messages.map(({ id }) => id),
    shown: [...inHistory(found), ...places.flatMap(({ what }) => what)],
    async forget() {
      let short: readonly string[] = [];
      const elsewhere = (now: Forgettable): void => {
        const all = placesFor(order, now, paths);
        short = [...counted(now), ...all.filter(({ what }) => what.length > 0).map((place) => place.short)];
        for (const place of all) remove(place);
      };
      await besideNoImport(order, paths, async () => {
        await history.forget(order, elsewhere, named);
        // Another hi may have written it down in the meantime.
        for (const place of placesFor(order, found, paths, true)) remove(place);
      });
      const unsearched = order.kind === 'text' ? [notSearched()] : [];
      return [`Forgotten: ${short.join(', ')}.`, NOT_REACHED, ...unsearched, ...stillIn(order, paths)];
    },
  };
}

/** Forgets while no import runs, which would write a book again as it was, and without what killed ones left. */
async function besideNoImport({ kind }: ForgetOrder, { imports }: Paths, work: () => Promise<void>): Promise<void> {
  if (kind !== 'text' || !existsSync(imports)) return await work();
  await exclusively(imports, async () => {
    removeUnfinished(imports);
    await work();
  });
}

function placesFor(order: ForgetOrder, found: Forgettable, paths: Paths, isGone = false): readonly Place[] {
  return placesOf(paths, tracesOf(order, found.messages, !isNothing(found)), isGone);
}

function remove(place: Place): void {
  try {
    place.forget();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === null) throw cause;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    const why = isFull ? ': the disk is full' : ` (${code})`;
    throw new HiError('history', `Cannot forget ${place.short}${why}. The conversation is unchanged.`, {
      hint: isFull
        ? 'Free some space, then run the command again.'
        : "Check the permissions of the folders that 'hi config path' prints, then run the command again.",
      cause,
    });
  }
}

function inHistory({ messages, summaries, others, shortened, copies, attachments }: Forgettable): readonly string[] {
  return [
    ...messages.map(messageLine),
    ...line(summaries, 'summary based on it', 'summaries based on it'),
    ...line(others, 'pin or other element', 'pins or other elements'),
    ...line(shortened, 'note of hi (recalled passage, folder)', 'notes of hi (recalled passages, folders)'),
    ...line(attachments, 'attachment', 'attachments'),
    ...copies.map(copyLine),
  ];
}

function counted({ messages, summaries, others, shortened, copies, attachments }: Forgettable): readonly string[] {
  return [
    ...line(messages.length, 'message', 'messages'),
    ...line(summaries, 'summary of messages', 'summaries of messages'),
    ...line(others, 'pin', 'pins'),
    ...line(shortened, 'note of hi', 'notes of hi'),
    ...line(attachments, 'attachment', 'attachments'),
    ...line(copies.length, 'copy', 'copies'),
  ];
}

const line = (count: number, one: string, many: string): readonly string[] =>
  count === 0 ? [] : [quantity(count, one, many)];

function messageLine(message: Message): string {
  const text = fullText(message).replace(/\s+/g, ' ').trim();
  const begins = text.length <= SHOWN ? text : `${firstCharacters(text, SHOWN - 1)}…`;
  return `#${message.id} ${message.role}, ${localMinute(message.at)}: ${begins}`;
}

const copyLine = ({ path, messages }: ForgettableCopy): string =>
  messages === null
    ? `${basename(path)}, a file set aside, completely`
    : `in ${basename(path)}: ${quantity(messages, 'message')}, and what rests on ${messages === 1 ? 'it' : 'them'}`;

/** hi does not change the user's own files. */
function stillIn(order: ForgetOrder, paths: Paths): readonly string[] {
  if (order.kind !== 'text') return [];
  const files = ownFilesWith(paths, occurrenceOf(order.text));
  return files.length === 0 ? [] : [`Your own files that contain it are unchanged: ${files.join(', ')}`];
}

/** The request to forget, as the user gave it. */
interface ForgetWords {
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
