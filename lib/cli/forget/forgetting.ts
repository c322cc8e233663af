import { basename } from 'node:path';
import type { Message } from '../../chat/message.js';
import { type ForgetOrder, occurrenceOf } from '../../chat/occurrence.js';
import { firstCharacters, localMinute, quantity } from '../../chat/text.js';
import { fullText } from '../../chat/transcript.js';
import type { Paths } from '../../config/paths.js';
import { HiError, systemCode } from '../../errors.js';
import { type Forgettable, type ForgettableCopy, isNothing } from '../../history/forget/forgettable.js';
import type { HistoryStore } from '../../history/store.js';
import type { Forgetting } from '../../slash/common/command.js';
import { ownFilesWith } from './own-files.js';
import { type Place, placesOf } from './places.js';
import { tracesOf } from './traces.js';

/** How much of a message is shown. Characters. */
const SHOWN = 60;

/** What a text is not looked for in. */
export function notSearched(): string {
  return 'Not searched: what pictures show and recordings say, letters that the font of a PDF numbers in its own way, and notes of hi: names of models, servers and tools, ids of calls, usage.';
}

const NOT_REACHED =
  'Not removed: what was sent to a vendor, the scrollback of the terminal, the history of your shell, files that you saved or exported, backups, and other machines.';

/** Everything that an order removes, to show and then do; null if there is nothing. Throws a `HiError`. */
export async function forgetting(order: ForgetOrder, history: HistoryStore, paths: Paths): Promise<Forgetting | null> {
  const found = await history.findForgettable(order);
  const places = placesFor(order, found, paths);
  if (isNothing(found) && places.length === 0) {
    // Completes an earlier run that was killed.
    await history.forget(order, () => undefined);
    return null;
  }
  return {
    shown: [...inHistory(found), ...places.flatMap(({ what }) => what)],
    async forget() {
      let short: readonly string[] = [];
      await history.forget(order, (now) => {
        const all = placesFor(order, now, paths);
        short = [...counted(now), ...all.map((place) => place.short)];
        for (const place of all) remove(place);
      });
      // Another hi may have indexed or summarised it in the meantime.
      for (const place of placesFor(order, found, paths)) remove(place);
      const unsearched = order.kind === 'text' ? [notSearched()] : [];
      return [`Forgotten: ${short.join(', ')}.`, NOT_REACHED, ...unsearched, ...stillIn(order, paths)];
    },
  };
}

function placesFor(order: ForgetOrder, found: Forgettable, paths: Paths): readonly Place[] {
  return placesOf(paths, tracesOf(order, found.messages, !isNothing(found)));
}

function remove(place: Place): void {
  try {
    place.forget();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === null) throw cause;
    throw new HiError('history', `Cannot forget ${place.short} (${code}). The conversation is unchanged.`, {
      hint: "Check the permissions of the folders that 'hi config path' prints, then run the command again.",
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
