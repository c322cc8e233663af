import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Entry, isMessage, storedText } from '../../chat/entry.js';
import { inReadingOrder, undoneTurns } from '../../chat/entry-list.js';
import type { Message } from '../../chat/message.js';
import { markdownOf, transcriptOf } from '../../chat/transcript.js';
import { findPaths } from '../../config/paths.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { ownEnvironment } from '../../own-programs.js';
import type { Search } from '../../recall/search.js';
import { summaryLine, unsearchedLine } from '../../recall/show/lines.js';
import { markedText } from '../../recall/show/passage.js';
import { parseTime } from '../../recall/show/when.js';
import { neutralise, neutraliseJson } from '../../screen/text/neutralise.js';
import { BOLD, CYAN, combine, DIM, INVERSE, paint } from '../../screen/text/styled-text.js';
import { shellCommand } from '../../shell-command.js';
import type { CommonOptions } from '../base/command-options.js';
import { hideHistoryProgress } from '../base/history-progress.js';
import { printHistoryNotices } from '../base/print-notices.js';
import { outputStreams, writeAll } from '../base/streams.js';
import type { World } from '../base/world.js';
import { pageWriter, type WritePage } from './history-page.js';

interface HistoryOptions extends CommonOptions, FilterOptions, PrintOptions {
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
  if (page === null) await printEntries(world, entries, options, undoneTurns(store.loaded));
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
  const reader = { hasColour, now: stdout.isTTY ? world.now() : null };
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
  const all = filter ?? EVERYTHING;
  const last = options.number ?? FOLLOWED;
  const earlier = filter === null ? await store.newest(last) : filtered(store.archive(), all, last);
  async function* lines(): AsyncGenerator<Entry> {
    yield* earlier;
    for await (const entry of followed(store, stop.signal)) if (passes(entry, all)) yield entry;
  }
  try {
    await writeAll(world.stdout, printed(lines(), options, { hasColour: false, now: null }));
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
  const { Recall } = await import('../../recall/recall.js');
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
  const child = spawn(file, args, {
    ...options,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: ownEnvironment(world.env),
  });
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

/** The entries that are added from now on, by any process, until `signal` aborts. After a reset, those of the new conversation. */
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
}

/** Who reads what is printed. */
interface Reader {
  readonly hasColour: boolean;
  /** Names the days as at this moment; null for dates. */
  readonly now: Date | null;
}

/** The entries as they are printed. What is of an `undone` turn says so. */
async function* printed(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { json, md, follow, find }: PrintOptions,
  { hasColour, now }: Reader,
  undone: ReadonlySet<number> = new Set(),
): AsyncGenerator<string> {
  const mark = hasColour && find !== undefined ? await markerOf(find) : plain;
  let first = true;
  for await (const entry of entries) {
    if (json && follow) yield `${neutraliseJson(storedText(entry))}\n`;
    else if (json) yield `${first ? '[\n' : ',\n'}${neutraliseJson(storedText(entry))}`;
    else if (md) yield neutralise(markdownOf(entry, undone));
    else {
      const text = neutralise(transcriptOf(entry, now, undone));
      yield `${first ? '' : '\n'}${hasColour ? coloured(entry, text, mark) : text}`;
    }
    first = false;
  }
  if (json && !follow) yield first ? '[]\n' : '\n]\n';
}

type Mark = (text: string) => string;

const plain: Mark = (text) => text;

/** What makes the words stand out that were looked for. */
async function markerOf(query: string): Promise<Mark> {
  // A pager shows each row by itself.
  const standOut = (word: string): string => word.replaceAll(/.+/g, (row) => paint(row, combine(BOLD, INVERSE)));
  return (text) => markedText(text, query, standOut);
}

/** The transcript of an entry with its heading, or the whole line of a mark, set apart. */
function coloured(entry: Entry, text: string, mark: Mark): string {
  if (!isMessage(entry)) return paint(text, DIM);
  if (entry.role === 'tool') return mark(text);
  const end = text.indexOf('\n');
  return paint(text.slice(0, end), entry.role === 'user' ? combine(BOLD, CYAN) : CYAN) + mark(text.slice(end));
}

/** What of the system chooses the pager. A spec passes its own. */
interface PagerSearch {
  readonly platform: NodeJS.Platform;
  /** The file of a program with its links followed; null if there is none. */
  programAt(path: string): string | null;
}

/**
 * The command line of the pager where the user has chosen none: `less`, if it is the real one. BusyBox's knows neither the options nor colours, and Windows' `more`
 * no UTF-8. Null for none: a terminal scrolls.
 */
export function usualPager(
  env: Readonly<Record<string, string | undefined>>,
  options: string,
  { platform, programAt }: PagerSearch = { platform: process.platform, programAt: realProgram },
): string | null {
  if (platform === 'win32') return null;
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    const file = programAt(join(folder, 'less'));
    if (file !== null) return basename(file).startsWith('busybox') ? null : `less ${options}`;
  }
  return null;
}

function realProgram(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return null;
  }
}
