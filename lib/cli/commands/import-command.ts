import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BookFiles, bookFiles, bookNamed, bookNames, messagesOf, removeBook } from '../../books/book.js';
import {
  type FoundSource,
  type Imported,
  type ImportOrder,
  importSource,
  recognise,
} from '../../books/import-books.js';
import { type Export, findFiles } from '../../books/input/find-files.js';
import { sources } from '../../books/sources/index.js';
import { quantity, withCommas } from '../../chat/text.js';
import { findPaths } from '../../config/paths.js';
import { leadsToFile } from '../../disk.js';
import { EXIT_STATUS, HiError, isAbort } from '../../errors.js';
import { prepareCodec } from '../../history/file/codec.js';
import { parseTime } from '../../recall/show/passage.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { isHistory } from '../../share/joining.js';
import { confirmCommand } from '../ask/confirm-command.js';
import { writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { ProgressLine } from '../base/output.js';
import { stoppingOf, type World } from '../base/world.js';
import { importReview } from './import-review.js';
import { type Joined, joinHistories } from './join-histories.js';

interface ImportOptions extends CommonOptions {
  readonly since?: string;
  readonly mirror?: boolean;
  readonly dryRun?: boolean;
  readonly list?: boolean;
  readonly remove?: string;
  readonly watch?: boolean;
  readonly review?: boolean;
  readonly theirs?: boolean;
  readonly conflicts?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** How many unreadable places are printed. */
const PRINTED = 10;

/**
 * Imports what is at these paths, or lists or removes books. Makes no request. Resolves to the exit status. Throws
 * `HiError`s.
 */
export async function importCommand(world: World, paths: readonly string[], options: ImportOptions): Promise<number> {
  checkOptions(paths, options);
  const found = await findPaths(world.env, options.config ?? null);
  const { imports } = found;
  await prepareCodec();
  if (options.review) return await importReview(world, found, options);
  if (options.list) return list(world, imports, options);
  if (options.remove !== undefined) return await remove(world, imports, options.remove, options);
  const since = options.since === undefined ? null : parseTime(options.since, world.now(), false);
  const histories = paths.filter(
    (path) => leadsToFile(resolve(world.cwd, path)) && isHistory(resolve(world.cwd, path)),
  );
  const joins = options.conflicts || histories.length > 0;
  const joined = joins ? await joinHistories(world, found, histories, options) : [];
  const others = paths.filter((path) => !histories.includes(path));
  if (others.length > 0 || !joins) return await take(world, others, options, { folder: imports, since, joined });
  if (options.json) writeJson(world.stdout, joined, 2);
  return 0;
}

/**
 * Resolves a word of the command line: the places of a source with that name, unless there is a file of that name, or
 * the path itself.
 */
function placesOf(world: World, word: string): readonly string[] {
  const source = existsSync(join(world.cwd, word)) ? undefined : sources.find(({ name }) => name === word);
  if (source === undefined) return [word];
  const places = source.places(world).filter((place) => existsSync(place));
  if (places.length > 0) return places;
  const [usual] = source.places(world);
  throw new HiError(
    'usage',
    `${source.title} has nothing ${usual === undefined ? 'on this machine' : `in '${usual}'`}.`,
    {
      hint: `Give its export: hi import FILE|FOLDER`,
    },
  );
}

/** The places of all sources on this machine; with `watch` only of those that have a book. */
function placesHere(world: World, folder: string, { watch }: ImportOptions): readonly string[] {
  const books = new Set(watch ? bookNames(folder) : []);
  return sources
    .filter(({ name }) => !watch || books.has(name))
    .flatMap((source) => source.places(world))
    .filter((place) => existsSync(place));
}

/** Throws a `HiError` of code `usage` for options that exclude each other. */
function checkOptions(paths: readonly string[], options: ImportOptions): void {
  const [first, second] = (['list', 'remove', 'mirror', 'review'] as const).filter((name) => options[name]);
  if (first !== undefined && second !== undefined)
    throw new HiError('usage', `Cannot use --${first} and --${second} together.`, { hint: 'Choose one.' });
  if (first !== undefined && first !== 'mirror' && paths.length > 0)
    throw new HiError('usage', `Cannot use --${first} with a path.`, {
      hint: 'Choose one.',
    });
}

async function take(
  world: World,
  paths: readonly string[],
  options: ImportOptions,
  { folder, since, joined }: Pick<ImportOrder, 'folder' | 'since'> & { readonly joined: readonly Joined[] },
): Promise<number> {
  const stopping = stoppingOf(world);
  const line = new ProgressLine(world);
  const onProgress: ImportOrder['onProgress'] = (what, done, all) =>
    void (options.quiet || line.showShare(what, done, all));
  const { mirror = false, dryRun = false } = options;
  const order: ImportOrder = { folder, since, mirror, dryRun, signal: stopping.signal, onProgress };
  const exports: Export[] = [];
  try {
    const skipped: string[] = [];
    const isNamed = paths.length > 0;
    const places = isNamed ? paths.flatMap((word) => placesOf(world, word)) : placesHere(world, folder, options);
    const skip = (file: string, why: string): void => void skipped.push(`${file}: ${why.replace(/\.$/, '')}.`);
    for (const path of places) exports.push(await findFiles(path, skip));
    const outcomes: Imported[] = [];
    for (const found of await recognise(exports, order, skip)) {
      if (!isNamed && !options.watch && !(await agreed(world, found, order, line, options))) continue;
      outcomes.push(await importSource(found, order));
    }
    line.erase();
    const told = options.watch ? outcomes.filter(({ added }) => added > 0) : outcomes;
    print(world, told, skipped, { ...options, joined });
    if (outcomes.length > 0 || options.watch) return 0;
    if (!isNamed) return sayNothingHere(world, exports, options);
    const known = sources.map(({ title }) => title).join(', ');
    throw new HiError(
      'usage',
      `Nothing in ${paths.map((path) => `'${path}'`).join(', ')} is an export that hi knows.`,
      {
        hint: `It knows those of ${known}.`,
      },
    );
  } catch (thrown) {
    if (stopping.status === null || !isAbort(thrown)) throw thrown;
    line.erase();
    world.stderr.write('Stopped. Nothing more was imported.\n');
    return stopping.status;
  } finally {
    line.erase();
    stopping.release();
    for (const one of exports) one.close();
  }
}

/** Without a path: says what a source has here, and asks whether to import it. Without a terminal it needs `-y`. */
async function agreed(
  world: World,
  found: FoundSource,
  order: ImportOrder,
  line: ProgressLine,
  { yes, dryRun }: ImportOptions,
): Promise<boolean> {
  if (yes || dryRun) return true;
  const outcome = await importSource(found, { ...order, dryRun: true });
  const { title, threads, messages, added, from, until } = outcome;
  line.erase();
  if (messages === 0) {
    for (const text of problemLines([outcome])) world.stderr.write(neutralise(`${text}\n`));
    return false;
  }
  const parts = [countsOf(threads, messages), ...span(from, until)];
  const words = `${title}: ${parts.join(', ')}; ${added === 0 ? 'nothing' : withCommas(added)} of it new.`;
  if (world.stdinIs !== 'terminal' || !world.stderr.isTTY) {
    world.stderr.write(`${words} To import it, run: hi import ${found.source.name}\n`);
    return false;
  }
  world.stderr.write(`${words}\n`);
  return added > 0 && (await confirmCommand(world, 'Import it?'));
}

function sayNothingHere(world: World, exports: readonly Export[], { quiet }: ImportOptions): number {
  const known = sources.map(({ title }) => title).join(', ');
  if (exports.length === 0 && !quiet)
    world.stderr.write(
      `Nothing was found on this machine. To import an export, run: hi import FILE\nKnown: ${known}.\n`,
    );
  return 0;
}

function print(
  world: World,
  outcomes: readonly Imported[],
  skipped: readonly string[],
  options: ImportOptions & { readonly joined: readonly Joined[] },
): void {
  const { stdout, stderr } = world;
  if (options.json) writeJson(stdout, [...options.joined, ...outcomes], 2);
  else for (const outcome of outcomes) stdout.write(`${neutralise(`${sentenceOf(outcome, options)}\n`)}`);
  if (options.quiet) return;
  const problems = problemLines(outcomes);
  const unread = outcomes.reduce((sum, one) => sum + one.unread, 0);
  const lines = [...skipped, ...problems];
  for (const text of lines.slice(0, PRINTED)) stderr.write(neutralise(`${text}\n`));
  const more = skipped.length + unread - Math.min(PRINTED, lines.length);
  if (more > 0) stderr.write(`${quantity(more, 'more place')} could not be read.\n`);
}

const problemLines = (outcomes: readonly Imported[]): readonly string[] =>
  outcomes.flatMap((one) => one.problems.map(({ file, place, what }) => `${file}, ${place}: ${what}.`));

/** `ChatGPT: 212 conversations, 18,400 messages, Mar 2025 – Nov 2026; 400 are new.` */
function sentenceOf(outcome: Imported, { dryRun, mirror }: ImportOptions): string {
  const { title, threads, messages, added, changed, removed, from, until, left_out } = outcome;
  const parts = [countsOf(threads, messages), ...span(from, until)];
  const verb = dryRun ? 'would be' : added === 1 ? 'is' : 'are';
  const news = added === 0 ? 'nothing is new' : `${withCommas(added)} ${verb} new`;
  const mirrored = mirror ? `, ${withCommas(changed)} changed, ${withCommas(removed)} removed` : '';
  return `${title}: ${parts.join(', ')}; ${news}${mirrored}.${leftOutOf(left_out)}`;
}

/** ` Left out: 3 summaries.`; nothing if nothing was. */
export function leftOutOf(left_out: Readonly<Record<string, number>>): string {
  const left = Object.entries(left_out).map(([what, count]) => `${withCommas(count)} ${what}`);
  return left.length > 0 ? ` Left out: ${left.join(', ')}.` : '';
}

/** `2 conversations, 18,400 messages` */
export const countsOf = (threads: number, messages: number): string =>
  `${quantity(threads, 'conversation')}, ${quantity(messages, 'message')}`;

function span(from: string, until: string): readonly string[] {
  if (from === '') return [];
  const month = (at: string): string => new Date(at).toLocaleDateString('en-GB', { month: 'short', year: 'numeric' });
  return [month(from) === month(until) ? month(from) : `${month(from)} – ${month(until)}`];
}

/** The size of a book. */
function contentsOf(book: BookFiles): { name: string; threads: number; messages: number; from: string; until: string } {
  const threads = new Set<string>();
  let [messages, from, until] = [0, '', ''];
  for (const { at, imported, content } of messagesOf(book)) {
    if (content.length === 0) continue;
    messages += 1;
    if (imported !== undefined) threads.add(imported.thread);
    if (at !== '' && (from === '' || at < from)) from = at;
    if (at > until) until = at;
  }
  return { name: book.name, threads: threads.size, messages, from, until };
}

function list(world: World, folder: string, { json, quiet }: ImportOptions): number {
  const books = bookNames(folder).map((name) => contentsOf(bookFiles(folder, name)));
  if (json) writeJson(world.stdout, books, 2);
  else
    for (const { name, threads, messages, from, until } of books) {
      const parts = [countsOf(threads, messages), ...span(from, until)];
      world.stdout.write(`${name}: ${parts.join(', ')}\n`);
    }
  if (books.length === 0 && !quiet) world.stderr.write('There are no books. To make one, run: hi import FILE\n');
  return 0;
}

async function remove(world: World, folder: string, name: string, options: ImportOptions): Promise<number> {
  const book = bookNamed(folder, name);
  if (!options.yes && !(await confirmCommand(world, `Remove the book '${name}'?`))) return EXIT_STATUS.interrupted;
  await removeBook(book);
  if (!options.quiet) world.stderr.write(`Removed the book '${name}'.\n`);
  return 0;
}
