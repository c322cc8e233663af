import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Entry } from '../../chat/entry.js';
import { inReadingOrder } from '../../chat/reading-order.js';
import { undoneTurns } from '../../chat/undone.js';
import { findPaths } from '../../config/paths.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import type { Search } from '../../recall/search.js';
import { shellCommand } from '../../shell-command.js';
import type { CommonOptions } from '../base/command-options.js';
import { hideHistoryProgress } from '../base/history-progress.js';
import { printHistoryNotices } from '../base/print-notices.js';
import { outputStreams } from '../base/streams.js';
import type { World } from '../base/world.js';
import {
  type EntryFilter,
  EVERYTHING,
  type FilterOptions,
  filtered,
  filterOf,
  passes,
} from '../history/entry-filter.js';
import type { WritePage } from '../history/page-writer.js';
import { type PrintOptions, printed } from '../history/printed-entries.js';
import { usualPager } from '../history/usual-pager.js';
import { writeAll } from '../history/write-all.js';

export interface HistoryOptions extends CommonOptions, FilterOptions, PrintOptions {
  readonly number?: number;
  /** The file of the page; true or `-` for stdout. */
  readonly html?: string | true;
  readonly yes?: boolean;
}

/** How many messages are printed before following. */
const FOLLOWED = 10;

/** How many matching messages are printed. */
const FOUND = 100;

/** Prints the transcript, streaming it; on a terminal through the pager. */
export async function historyCommand(world: World, options: HistoryOptions): Promise<number> {
  checkOptions(options);
  const filter = await filterOf(options, world.now());
  const page = options.html === undefined ? null : await writerOf(world, options);
  if (page === 'refused') return EXIT_STATUS.interrupted;
  const paths = await findPaths(world.env, options.config ?? null);
  const store = await HistoryStore.open({ folder: paths.data, now: world.now });
  printHistoryNotices(world, store);
  if (options.follow) hideHistoryProgress();
  if (options.follow) return await follow(world, store, filter, options);
  const entries =
    options.find === undefined
      ? await chosen(store, filter, options)
      : await found(world, store, paths.index, options.find, filter, options);
  if (store.totals.messages === 0 && !options.json && !options.quiet)
    world.stderr.write('The conversation is empty.\n');
  if (page === null) await printEntries(world, entries, options, undoneTurns(store.entries));
  else await page({ entries, read: (sha256) => store.attachments.get(sha256), now: world.now() });
  // Entries before the newest messages were first read while printing.
  printHistoryNotices(world, store);
  await store.close();
  return 0;
}

/** Throws a `HiError` of code `usage` for options that exclude each other. */
function checkOptions(options: HistoryOptions): void {
  const [first, second] = (['html', 'json', 'md'] as const).filter((format) => options[format] !== undefined);
  if (second !== undefined)
    throw new HiError('usage', `Cannot use --${first} and --${second} together.`, { hint: 'Choose one.' });
  if (options.follow && options.html !== undefined)
    throw new HiError('usage', 'Cannot use --follow and --html together.', { hint: 'A page cannot be followed.' });
  if (options.follow && options.find !== undefined)
    throw new HiError('usage', 'Cannot use --follow and --find together.', {
      hint: 'Filter its output with jq or grep.',
    });
  if (options.find?.trim() === '')
    throw new HiError('usage', 'No search text given.', { hint: 'Run: hi history --find TEXT' });
}

/** The writer of the page. Asks before overwriting a file. */
async function writerOf(world: World, { html, yes, quiet }: HistoryOptions): Promise<WritePage | 'refused'> {
  const { pageWriter } = await import('../history/page-writer.js');
  const file = html === true || html === '-' ? null : (html ?? '');
  return (await pageWriter(world, file, { yes, quiet })) ?? 'refused';
}

async function printEntries(
  world: World,
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  options: HistoryOptions,
  undone: ReadonlySet<number>,
): Promise<void> {
  if (world.stdout.isTTY) hideHistoryProgress();
  const pager = world.stdout.isTTY && !options.json ? openPager(world, options) : null;
  const { stdout } = world;
  const hasColour = pager?.hasColour ?? (stdout.isTTY === true && !options.json && outputStreams(world).colour.out);
  const reader = { stdout, hasColour, now: stdout.isTTY ? world.now() : null };
  await writeAll(pager?.input ?? stdout, printed(entries, options, reader, undone));
  await pager?.done();
}

/** The requested entries, in reading order; JSON keeps the order of the file. */
async function chosen(
  store: HistoryStore,
  filter: EntryFilter | null,
  { number, json }: HistoryOptions,
): Promise<AsyncIterable<Entry> | Iterable<Entry>> {
  const inOrder = (read: AsyncIterable<Entry> | Iterable<Entry>) => (json ? read : inReadingOrder(read, store));
  if (filter !== null) return filtered(inOrder(store.archive()), filter, number ?? null);
  return inOrder(number === undefined ? store.archive() : await store.newest(number));
}

/** Prints the last messages, then each new one, until Ctrl-C or until the reader leaves. JSON is one line per message. */
async function follow(
  world: World,
  store: HistoryStore,
  filter: EntryFilter | null,
  options: HistoryOptions,
): Promise<number> {
  const stop = new AbortController();
  let signalled: NodeJS.Signals | null = null;
  const release = world.onStop((signal) => {
    signalled ??= signal;
    stop.abort();
  });
  const { followed } = await import('../history/follow.js');
  const all = filter ?? EVERYTHING;
  const last = options.number ?? FOLLOWED;
  const earlier = filter === null ? await store.newest(last) : filtered(store.archive(), all, last);
  async function* lines(): AsyncGenerator<Entry> {
    yield* earlier;
    for await (const entry of followed(store, stop.signal)) if (passes(entry, all)) yield entry;
  }
  try {
    await writeAll(world.stdout, printed(lines(), options, { stdout: world.stdout, hasColour: false, now: null }));
    return signalled === null ? 0 : signalled === 'SIGINT' ? EXIT_STATUS.interrupted : EXIT_STATUS.terminated;
  } finally {
    release();
    await store.close();
  }
}

/** The matching messages, best match first. */
async function found(
  world: World,
  store: HistoryStore,
  folder: string,
  query: string,
  filter: EntryFilter | null,
  { number = FOUND, html, quiet }: HistoryOptions,
): Promise<readonly Entry[]> {
  const [{ Recall }, { summaryLine, unsearchedLine }] = await Promise.all([
    import('../../recall/recall.js'),
    import('../../recall/show/lines.js'),
  ]);
  const recall = new Recall({ folder, open: () => store.reading(), writes: true });
  const { role, from, until } = filter ?? EVERYTHING;
  const who: Search['who'] = role === 'assistant' ? 'model' : role;
  const search = { query, who, from, until, every: true, count: number };
  const outcome = await recall.search(search);
  recall.close();
  const say = (text: string): void => void (quiet || world.stderr.write(`${text}\n`));
  if (store.totals.messages > 0 && (outcome.hits.length === 0 || !outcome.isWhole)) say(summaryLine(outcome, query));
  if (outcome.more > 0) say(`${outcome.more} more; to print them, use -n.`);
  if (outcome.unsearched > 0) say(unsearchedLine(outcome.unsearched));
  const messages = outcome.hits.map(({ message }) => message);
  // A page is read by days.
  return html === undefined ? messages : messages.sort((one, other) => one.id - other.id);
}

/**
 * Starts the user's pager, or returns null if there is none. `less` begins at the end, where the newest messages are, or the best ones first that were found; it
 * exits at once when everything fits on the screen. Another pager gets plain text.
 */
function openPager(
  world: World,
  { find }: HistoryOptions,
): { readonly input: Writable; readonly hasColour: boolean; done(): Promise<void> } | null {
  const command = world.env.PAGER || usualPager(world.env, find === undefined ? '-FRX +G' : '-FRX');
  if (command === null) return null;
  const { file, args, options } = shellCommand(command);
  const child = spawn(file, args, { ...options, stdio: ['pipe', 'inherit', 'inherit'] });
  child.stdin.on('error', () => child.stdin.destroy());
  const closed = once(child, 'close');
  return {
    input: child.stdin,
    hasColour: !world.env.PAGER && outputStreams(world).colour.out,
    async done() {
      child.stdin.end();
      await closed;
    },
  };
}
