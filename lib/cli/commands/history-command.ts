import { setTimeout as sleep } from 'node:timers/promises';
import { attachmentOf, bookNamed, messagesOf } from '../../books/book.js';
import type { SearchUse } from '../../books/open-book.js';
import { searchOfBook } from '../../books/search-books.js';
import { type Entry, isMessage, storedText } from '../../chat/entry.js';
import { inReadingOrder, marksAmong, standing, undoneTurns } from '../../chat/entry-list.js';
import type { Message } from '../../chat/message.js';
import { keptText, markdownOf } from '../../chat/transcript.js';
import { findPaths, wasShared } from '../../config/paths.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { prepareCodec } from '../../history/file/codec.js';
import { HistoryStore } from '../../history/store.js';
import type { Finder } from '../../recall/recall.js';
import { entriesAround } from '../../recall/search.js';
import { matchesIn, parseTime, summaryLine, unsearchedLine } from '../../recall/show/passage.js';
import type { AnswerStyle } from '../../screen/answer-writer.js';
import { shownEntry } from '../../screen/shown-entry.js';
import { neutralise, neutraliseJson } from '../../screen/text/neutralise.js';
import type { CommonOptions } from '../base/options.js';
import {
  hideHistoryProgress,
  outputStreams,
  ProgressLine,
  printHistoryNotices,
  printNotices,
  writeAll,
} from '../base/output.js';
import { stoppingOf, type World } from '../base/world.js';
import { takeInFirst } from '../wiring/sharing.js';
import { pageWriter, type WritePage } from './history-page.js';
import { choosePager, newestFirst } from './pager.js';

interface HistoryOptions extends CommonOptions, FilterOptions, PrintOptions {
  readonly number?: number;
  /** The file of the page; true or `-` for stdout. */
  readonly html?: string | true;
  readonly yes?: boolean;
  /** False leaves out turns that were undone or failed, and notes about them and about pins. */
  readonly undone?: boolean;
  /** The book that is printed in place of the conversation. */
  readonly in?: string;
}

/** How many messages are printed before following. */
const FOLLOWED = 10;

/** How many matching messages are printed. */
const FOUND = 100;

/** How many messages are printed before and after the one with an id. */
const NEIGHBOURS = 5;

/** Prints the transcript, or what is around one `id`, streaming it; on a terminal through the pager. */
export async function historyCommand(world: World, id: string | null, options: HistoryOptions): Promise<number> {
  checkOptions(id, options);
  const filter = await filterOf(options, world.now());
  const page = options.html === undefined ? null : await writerOf(world, options);
  if (page === 'refused') return EXIT_STATUS.interrupted;
  const paths = await findPaths(world.env, options.config ?? null);
  if (options.in !== undefined) return await printBook(world, paths.imports, options.in, { id, filter, page, options });
  const store = await HistoryStore.open({ folder: paths.data, now: world.now });
  if (wasShared(paths)) printNotices(world, await takeInFirst(world, paths, store));
  printHistoryNotices(world, store);
  if (options.follow) hideHistoryProgress();
  if (options.follow) return await follow(world, store, filter, options);
  const chosenEntries =
    id !== null
      ? await around(store, id)
      : options.find === undefined
        ? await chosen(store, filter, options)
        : store.totals.messages === 0
          ? []
          : await found(world, store, paths.index, options.find, filter, options);
  if (store.totals.messages === 0 && !options.json && !options.quiet)
    world.stderr.write('The conversation is empty.\n');
  const undone = undoneTurns(options.undone === false ? await marksAmong(store.archive()) : store.loaded);
  const entries = options.undone === false ? standing(chosenEntries, undone) : chosenEntries;
  if (page === null) await printEntries(world, entries, { ...options, hasId: id !== null }, undone);
  else await page({ entries, read: (sha256) => store.attachments.get(sha256), now: world.now() });
  // Entries before the newest messages were first read while printing.
  printHistoryNotices(world, store);
  await store.close();
  return 0;
}

/** What is printed of a book, and how. */
interface BookPrint {
  readonly id: string | null;
  readonly filter: EntryFilter | null;
  readonly page: WritePage | null;
  readonly options: HistoryOptions;
}

/** Prints a book in place of the conversation. */
async function printBook(
  world: World,
  folder: string,
  name: string,
  { id, filter, page, options }: BookPrint,
): Promise<number> {
  await prepareCodec();
  const book = bookNamed(folder, name);
  const entries =
    id !== null
      ? await placeIn(searchOfBook(folder, book.name, { writes: true }), id)
      : options.find !== undefined
        ? await matches(world, (use) => searchOfBook(folder, book.name, use), options.find, filter, options)
        : filtered(inTurn(messagesOf(book)), filter ?? EVERYTHING, options.number ?? null);
  if (page === null) await printEntries(world, entries, { ...options, hasId: true }, new Set());
  else await page({ entries, read: async (sha256) => attachmentOf(book, sha256), now: world.now() });
  return 0;
}

/** The messages, without the places of forgotten ones. */
async function* inTurn(messages: Iterable<Message>): AsyncGenerator<Entry> {
  for (const message of messages) if (message.content.length > 0) yield message;
}

/** The messages of a book around one of them. Closes the search. */
async function placeIn(finder: Finder, id: string): Promise<readonly Entry[]> {
  try {
    const entries = /^#?\d+$/.test(id) ? await finder.placeOf(Number(id.replace('#', '')), NEIGHBOURS) : [];
    if (entries.length > 0) return entries;
  } finally {
    finder.close();
  }
  throw noMessage(id);
}

/** Throws a `HiError` of code `usage` for options that exclude each other. */
function checkOptions(id: string | null, options: HistoryOptions): void {
  const chooser = (['find', 'follow', 'number', 'since', 'until', 'role'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (id !== null && chooser !== undefined)
    throw new HiError('usage', `Cannot use '${id}' and --${chooser} together.`, { hint: 'Choose one.' });
  const [first, second] = (['html', 'json', 'md'] as const).filter((format) => options[format] !== undefined);
  if (second !== undefined)
    throw new HiError('usage', `Cannot use --${first} and --${second} together.`, { hint: 'Choose one.' });
  if (options.follow && options.undone === false)
    throw new HiError('usage', 'Cannot use --follow and --no-undone together.', {
      hint: 'Nobody knows yet what will be undone.',
    });
  if (options.follow && options.in !== undefined)
    throw new HiError('usage', 'Cannot use --follow and --in together.', {
      hint: 'Nothing is added to a book by itself.',
    });
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
  const { stdout } = world;
  const isShown = stdout.isTTY === true && !options.json && !options.md;
  const pager =
    stdout.isTTY && !options.json
      ? choosePager(world, options.find === undefined && !options.hasId ? 'end' : 'start')
      : null;
  const style = isShown ? styleOf(world, pager?.hasColour ?? outputStreams(world).colour.out) : null;
  const reversed = pager?.missesEnd ? await newestFirst(entries) : null;
  async function* texts(): AsyncGenerator<string> {
    if (reversed !== null)
      yield `── newest first${reversed.isWhole ? '' : `, the last ${reversed.entries.length}`} ──\n\n`;
    yield* printed(reversed?.entries ?? entries, options, style, undone, world.now());
  }
  await (pager?.page(texts()) ?? writeAll(stdout, texts()));
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

/** The messages around one, or around a compaction. */
async function around(store: HistoryStore, id: string): Promise<readonly Entry[]> {
  const reading = await store.reading();
  const entries = /^#?\d+$/.test(id) ? entriesAround(reading, Number(id.replace('#', '')), NEIGHBOURS) : [];
  reading.close();
  if (entries.length > 0) return entries;
  throw noMessage(id);
}

const noMessage = (id: string): HiError =>
  new HiError('usage', `There is no message '${id}'.`, { hint: 'Find one with: hi recall TEXT' });

/**
 * Prints the last messages, then each new one, until Ctrl-C or until the reader leaves. JSON is one line per message.
 */
async function follow(
  world: World,
  store: HistoryStore,
  filter: EntryFilter | null,
  options: HistoryOptions,
): Promise<number> {
  const stopping = stoppingOf(world);
  const all = filter ?? EVERYTHING;
  const last = options.number ?? FOLLOWED;
  const earlier = filter === null ? await store.newest(last) : filtered(store.archive(), all, last);
  async function* lines(): AsyncGenerator<Entry> {
    yield* earlier;
    for await (const entry of followed(store, stopping.signal)) if (passes(entry, all)) yield entry;
  }
  try {
    await writeAll(world.stdout, printed(lines(), options, null));
    return stopping.status ?? 0;
  } finally {
    stopping.release();
    await store.close();
  }
}

/** The matching messages of the conversation. */
async function found(
  world: World,
  store: HistoryStore,
  folder: string,
  query: string,
  filter: EntryFilter | null,
  options: HistoryOptions,
): Promise<readonly Entry[]> {
  const { Recall } = await import('../../recall/recall.js');
  return await matches(world, (use) => new Recall({ folder, history: store, ...use }), query, filter, options);
}

/** The matching messages, best match first. */
async function matches(
  world: World,
  finderOf: (use: SearchUse) => Finder,
  query: string,
  filter: EntryFilter | null,
  { number = FOUND, html, quiet }: HistoryOptions,
): Promise<readonly Entry[]> {
  const line = new ProgressLine(world);
  const onIndexed = (done: number, all: number): void => void (quiet || line.showShare('Indexing', done, all));
  const recall = finderOf({ writes: true, indexesAll: true, onIndexed });
  const { role: who, from, until } = filter ?? EVERYTHING;
  const search = { query, who, from, until, every: true, count: number };
  const outcome = await recall.search(search);
  line.erase();
  recall.close();
  const say = (text: string): void => void (quiet || world.stderr.write(`${text}\n`));
  if (outcome.hits.length === 0 || !outcome.isWhole) say(summaryLine(outcome, query));
  if (outcome.more > 0) say(`${outcome.more} more; to print them, use -n.`);
  if (outcome.unsearched > 0) say(unsearchedLine(outcome.unsearched));
  const messages = outcome.hits.map(({ message }) => message);
  // A page is read by days.
  return html === undefined ? messages : messages.sort((one, other) => one.id - other.id);
}

/** The filter options of the command line. */
interface FilterOptions {
  readonly since?: string;
  readonly until?: string;
  readonly role?: Message['role'];
}

/** Which entries are printed. */
interface EntryFilter {
  readonly from: Date | null;
  readonly until: Date | null;
  readonly role: Message['role'] | null;
}

/** Lets everything pass. */
const EVERYTHING: EntryFilter = { from: null, until: null, role: null };

/** The filter given on the command line, null if everything is printed. Throws a `HiError` of code `usage`. */
async function filterOf({ since, until, role }: FilterOptions, now: Date): Promise<EntryFilter | null> {
  if (since === undefined && until === undefined && role === undefined) return null;
  const filter = {
    from: since === undefined ? null : parseTime(since, now, false),
    until: until === undefined ? null : parseTime(until, now, true),
    role: role ?? null,
  };
  if (filter.from !== null && filter.until !== null && filter.from > filter.until)
    throw new HiError('usage', `--since '${since}' is later than --until '${until}'.`, { hint: 'Swap the two.' });
  return filter;
}

/** Whether an entry is printed. Entries without a time match no time range. */
function passes(entry: Entry, { from, until, role }: EntryFilter): boolean {
  if (role !== null && !(isMessage(entry) && entry.role === role)) return false;
  const at = Date.parse(entry.at);
  return (from === null || at >= from.getTime()) && (until === null || at <= until.getTime());
}

/** The entries that pass, all of them or the last of them. */
async function* filtered(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  filter: EntryFilter,
  last: number | null,
): AsyncGenerator<Entry> {
  const kept: Entry[] = [];
  for await (const entry of entries) {
    if (!passes(entry, filter)) continue;
    if (last === null) yield entry;
    else if (kept.push(entry) > last) kept.shift();
  }
  yield* kept;
}

/** How often the file is looked at. Milliseconds. */
const PAUSE = 250;

/**
 * The entries that are added from now on, by any process, until `signal` aborts. After a reset, those of the new
 * conversation.
 */
async function* followed(store: HistoryStore, signal: AbortSignal): AsyncGenerator<Entry> {
  let { name } = store;
  let last = store.loaded.at(-1)?.id ?? 0;
  while (!signal.aborted) {
    await store.refresh();
    if (store.name !== name) {
      name = store.name;
      last = 0;
    }
    for (const entry of store.loaded) {
      if (entry.id <= last) continue;
      last = entry.id;
      yield entry;
    }
    await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
  }
}

/** In which form entries are printed. */
interface PrintOptions {
  readonly json?: boolean;
  readonly md?: boolean;
  readonly follow?: boolean;
  readonly find?: string;
  readonly hasId?: boolean;
}

/** How the transcript looks on a terminal. */
function styleOf(world: World, colour: boolean): AnswerStyle {
  const { columns } = outputStreams(world);
  return { colour, links: false, columns, wrap: () => 'word' };
}

/** The entries as they are printed: for a terminal in a style. What is of an `undone` turn says so. */
async function* printed(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { json, md, follow, find, hasId }: PrintOptions,
  style: AnswerStyle | null,
  undone: ReadonlySet<number> = new Set(),
  now: Date | null = null,
): AsyncGenerator<string> {
  const hits = find === undefined ? null : (text: string) => matchesIn(text, find);
  let first = true;
  for await (const entry of entries) {
    if (json && follow) yield `${neutraliseJson(storedText(entry))}\n`;
    else if (json) yield `${first ? '[\n' : ',\n'}${neutraliseJson(storedText(entry))}`;
    else if (md) yield neutralise(markdownOf(entry, undone));
    else {
      const text =
        style === null
          ? neutralise(keptText({ entry, now: null, undone, hasId }))
          : await shownEntry({ entry, now, undone, hasId }, style, hits);
      yield `${first ? '' : '\n'}${text}`;
    }
    first = false;
  }
  if (json && !follow) yield first ? '[]\n' : '\n]\n';
}
