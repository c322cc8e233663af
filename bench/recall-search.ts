import { existsSync } from 'node:fs';
import type { Found } from '../lib/recall/search.js';

/**
 * Works on the index of a folder in a separate process, and prints the processor time in milliseconds and the peak
 * memory in MiB. `rebuild` builds the index, `open` only opens the history, and `search` searches for each line of
 * stdin, also in imported books.
 */
const [folder = '', work = ''] = process.argv.slice(2);
const { HistoryStore } = await import('../lib/history/store.js');
const store = await HistoryStore.open({ folder, now: () => new Date() });
const { Recall } = await import('../lib/recall/recall.js');
const own = new Recall({ folder: `${folder}/recall`, history: store, writes: true });
const imports = `${folder}/imports`;
const { searchBooksToo } = await import('../lib/books/search-books.js');
const recall = existsSync(imports) ? searchBooksToo(own, imports, { writes: true }) : own;

async function cost(task: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const times: number[] = [];
if (work === 'rebuild') {
  times.push(await cost(() => recall.rebuild(new AbortController().signal)));
  if (recall !== own) await recall.calibrate(Number.POSITIVE_INFINITY);
}
if (work === 'search') {
  const { text } = await import('node:stream/consumers');
  const search = (query: string): Promise<Found> =>
    recall.search({ query, who: null, from: null, until: null, count: 5 });
  for (const question of (await text(process.stdin)).split('\n')) times.push(await cost(() => search(question)));
}
process.stdout.write(JSON.stringify({ times, memory: process.resourceUsage().maxRSS / 1024 }));
recall.close();
await store.close();
