import { type BookFiles, bookNamed, exclusively } from '../../books/book.js';
import { forgetInBook, type MeantInBook, meantInBook, withText } from '../../books/forget-in-books.js';
import { textOf } from '../../chat/message.js';
import { firstCharacters, quantity } from '../../chat/text.js';
import { findPaths } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { prepareCodec } from '../../history/file/codec.js';
import { HistoryStore } from '../../history/store.js';
import { parseTime } from '../../recall/show/passage.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { confirmCommand, requireTerminal } from '../ask/confirm-command.js';
import { writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { printHistoryNotices } from '../base/output.js';
import type { World } from '../base/world.js';
import { notSearched, orderOf } from '../forget/forgetting.js';
import { forgettingEverywhere } from '../wiring/sharing.js';

interface ForgetOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly since?: string;
  readonly last?: boolean;
  /** Only in this imported book. */
  readonly in?: string;
  readonly json?: boolean;
}

/** What was removed, for programs: ids and sentences, nothing of the text. */
interface ForgetReport {
  readonly messages: readonly number[];
  readonly receipt: readonly string[];
  readonly book?: string;
}

/** Shows everything that goes, asks, and removes it for good. Resolves to the exit status. Throws `HiError`s. */
export async function forgetCommand(world: World, words: readonly string[], options: ForgetOptions): Promise<number> {
  const isNothing =
    options.in === undefined && words.join('').trim() === '' && options.since === undefined && !options.last;
  if (!isNothing && !options.yes) requireTerminal(world);
  const say = (text: string): void => void (options.quiet || world.stderr.write(neutralise(`${text}\n`)));
  const paths = await findPaths(world.env, options.config ?? null);
  if (options.in !== undefined) return await forgetIn(world, paths.imports, options.in, words.join(' '), options, say);
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  try {
    const order = await orderOf({ ...options, text: words.join(' ') }, history, world.now());
    const found = await forgettingEverywhere(world, order, history, paths);
    printHistoryNotices(world, history);
    if (found === null) {
      say('There is nothing to forget.');
      if (order.kind === 'text') say(notSearched());
      if (options.json) report(world, { messages: [], receipt: [] });
      return 0;
    }
    for (const line of found.shown) say(line);
    if (!options.yes && !(await confirmCommand(world, QUESTION))) return 130;
    const receipt = await found.forget();
    for (const line of receipt) say(line);
    if (options.json) report(world, { messages: found.messages, receipt });
    printHistoryNotices(world, history);
    return 0;
  } finally {
    await history.close();
  }
}

/** Forgets messages of a book. */
async function forgetIn(
  world: World,
  folder: string,
  name: string,
  words: string,
  options: ForgetOptions,
  say: (text: string) => void,
): Promise<number> {
  await prepareCodec();
  const book = bookNamed(folder, name);
  const meant = meantBy(book, words.trim(), options, world.now());
  const { messages } = meant;
  if (meant.isNothing) {
    say('There is nothing to forget.');
    if (options.json) report(world, { messages: [], receipt: [], book: book.name });
    return 0;
  }
  for (const { id, role, content } of messages.slice(0, LISTED))
    say(`#${book.name}:${id} ${role}: ${firstCharacters(textOf(content).replace(/\s+/g, ' ').trim(), 60)}`);
  if (messages.length > LISTED) say(`… and ${messages.length - LISTED} more`);
  if (!options.yes && !(await confirmCommand(world, QUESTION))) return 130;
  await exclusively(folder, async () => forgetInBook(meant));
  const receipt = `Forgotten: ${quantity(messages.length, 'message')} of ${book.name}. Passages of it in the conversation stay; hi forget TEXT removes them.`;
  say(receipt);
  if (options.json) report(world, { messages: messages.map(({ id }) => id), receipt: [receipt], book: book.name });
  return 0;
}

const report = ({ stdout }: World, what: ForgetReport): void => writeJson(stdout, what, 2);

const QUESTION = 'Forget all of this for good?';

/** How many messages are listed before they go. */
const LISTED = 20;

/**
 * Which messages of a book are meant: those with a text or with these ids, or those since a time. Throws a `HiError` of
 * code `usage`.
 */
function meantBy(book: BookFiles, text: string, { since, last }: ForgetOptions, now: Date): MeantInBook {
  if (last || (text === '') === (since === undefined))
    throw new HiError('usage', 'Nothing given to forget, or too much.', {
      hint: "Give a text, a message ('#12', in quotes for the shell), or --since TIME.",
    });
  if (since !== undefined) {
    const from = parseTime(since, now, false).toISOString();
    return meantInBook(book, ({ at }) => at >= from);
  }
  if (/^#\d{1,15}(?:\s+#\d{1,15})*$/.test(text)) {
    const ids = new Set(text.split(/\s+/).map((id) => Number(id.slice(1))));
    return meantInBook(book, ({ id }) => ids.has(id));
  }
  return withText(book, text);
}
