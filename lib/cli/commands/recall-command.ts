import { searchBooksToo, searchOfBook } from '../../books/search-books.js';
import type { Message } from '../../chat/message.js';
import { findPaths, wasShared } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { type Finder, Recall } from '../../recall/recall.js';
import type { Found, Search } from '../../recall/search.js';
import { foundLines, marked, parseTime, summaryLine, unsearchedLine } from '../../recall/show/passage.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { colours, writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { ProgressLine, printHistoryNotices, printNotices } from '../base/output.js';
import type { World } from '../base/world.js';
import { takeInFirst } from '../wiring/sharing.js';

interface RecallOptions extends CommonOptions {
  readonly from?: string;
  readonly until?: string;
  readonly who?: Message['role'];
  readonly number?: number;
  readonly json?: boolean;
  readonly rebuild?: boolean;
  /** Only in this book. */
  readonly in?: string;
}

/** How many messages are printed. */
const PRINTED = 10;

/** Searches the conversation, or rebuilds the index. Resolves to the exit status. Throws `HiError`s. */
export async function recallCommand(world: World, words: readonly string[], options: RecallOptions): Promise<number> {
  const query = words.join(' ').trim();
  const search = options.rebuild ? null : searchOf(query, options, world.now());
  const paths = await findPaths(world.env, options.config ?? null);
  const store = await HistoryStore.open({ folder: paths.data, now: world.now });
  if (wasShared(paths)) printNotices(world, await takeInFirst(world, paths, store));
  const line = new ProgressLine(world);
  const onIndexed = (done: number, all: number): void => void (options.quiet || line.showShare('Indexing', done, all));
  const use = { writes: true, indexesAll: true, onIndexed };
  const own = new Recall({ folder: paths.index, history: store, ...use });
  const recall =
    options.in === undefined ? searchBooksToo(own, paths.imports, use) : searchOfBook(paths.imports, options.in, use);
  try {
    printHistoryNotices(world, store);
    if (search === null) await rebuild(world, recall, line, options);
    else {
      const found = await recall.search(search);
      line.erase();
      print(world, found, query, options);
    }
    // Opening it for a search converts a file in another layout.
    printHistoryNotices(world, store);
    return 0;
  } finally {
    line.erase();
    recall.close();
    await store.close();
  }
}

function searchOf(query: string, options: RecallOptions, now: Date): Search {
  const from = options.from === undefined ? null : parseTime(options.from, now, false);
  const until = options.until === undefined ? null : parseTime(options.until, now, true);
  if (query === '' && from === null && until === null) {
    throw new HiError('usage', 'Nothing to search for.', { hint: 'Run: hi recall TEXT, or give --from or --until.' });
  }
  if (from !== null && until !== null && from > until) {
    throw new HiError('usage', `--from '${options.from}' is later than --until '${options.until}'.`, {
      hint: 'Swap the two.',
    });
  }
  return { query, from, until, who: options.who ?? null, count: options.number ?? PRINTED };
}

function print(world: World, found: Found, query: string, options: RecallOptions): void {
  const { stdout, stderr } = world;
  if (options.json) {
    const hits = found.hits.map(({ message, origin, certainty, text, newer, book = options.in }) => {
      const { id, turn, at, role, cwd } = message;
      return {
        ...(book !== undefined && { book }),
        id,
        turn,
        at,
        role,
        cwd,
        score: certainty,
        text,
        source: origin,
        ...(newer !== null && { newer }),
      };
    });
    writeJson(stdout, hits, 2);
  } else {
    const chalk = colours(world);
    const mark = (word: string): string => (chalk.level > 0 ? chalk.bold.inverse(word) : word);
    const safe = stdout.isTTY ? neutralise : (text: string): string => text;
    const { in: book } = options;
    const hits = book === undefined ? found.hits : found.hits.map((hit) => ({ ...hit, book }));
    for (const line of foundLines({ ...found, hits, unsearched: 0 }, query, world.now(), safe))
      stdout.write(`${marked(line, mark)}\n`);
  }
  if (options.quiet) return;
  if (found.hits.length === 0)
    stderr.write(`${query === '' ? 'There are no messages from that time.' : summaryLine(found, query)}\n`);
  if (found.unsearched > 0) stderr.write(`${unsearchedLine(found.unsearched)}\n`);
}

async function rebuild(world: World, recall: Finder, line: ProgressLine, { quiet }: RecallOptions): Promise<void> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  try {
    const pieces = await recall.rebuild(stop.signal);
    await recall.calibrate(Number.POSITIVE_INFINITY, stop.signal);
    line.erase();
    const indexed =
      pieces === 0
        ? 'Nothing to index yet: a short conversation is searched directly.'
        : 'Indexed the whole conversation.';
    if (!quiet) world.stderr.write(`${indexed}\n`);
  } finally {
    release();
  }
}
