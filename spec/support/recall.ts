import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry, NewCompressBlock } from '../../lib/chat/entry.js';
import type { ChatEvent } from '../../lib/chat/event.js';
import { asTokens } from '../../lib/chat/request.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { Recall } from '../../lib/recall/recall.js';
import type { Search } from '../../lib/recall/search.js';
import { answers, exchange, openIn, quickFolder, says } from './history.js';
import { prose } from './prose.js';

/** Words that are each in one turn of a long history only. */
export const RARE = ['quokka', 'zeppelin', 'marzipan', 'obsidian', 'tamarind', 'bassoon', 'kestrel', 'lagoon'];

/** A data folder with a history of so many sealed pieces and a little more. Made once and copied. */
export async function longHistory(pieces: number): Promise<() => string> {
  const folder = quickFolder();
  const store = await openIn(folder);
  const turns = pieces * 5;
  for (let turn = 0; turn < turns; turn += 1) {
    const rare = RARE[Math.floor((turn * RARE.length) / turns)];
    await exchange(
      store,
      `Question ${turn} about the ${rare}: ${prose(400, turn)}`,
      `${prose(55_000, turn)} ${rare} ${turn}`,
    );
  }
  await exchange(store, 'And the lagoon?', 'It is still there.');
  await store.close();
  return () => {
    const copy = quickFolder();
    cpSync(folder, copy, { recursive: true });
    return copy;
  };
}

/** A data folder with a history of about so many short messages after a first one, indexed; none of them is in view. */
export async function longLife(first: string, messages: number): Promise<string> {
  const folder = quickFolder();
  const store = await openIn(folder);
  await exchange(store, first, 'Noted.');
  const turn = 1000;
  for (let done = 0; done < messages; done += turn) {
    const { id } = await store.begin(says(`Thought ${done}: ${prose(60, done)}`));
    const more = Array.from({ length: turn - 1 }, (_, index) => prose(60, done + index + 1));
    await store.append(
      id,
      more.map((text, index) => (index % 2 === 0 ? answers(text) : says(text))),
    );
  }
  for await (const _ of store.compact(null, emptyBlock, 'keep'));
  const recall = recallIn(folder, store);
  await recall.catchUp(600_000);
  await recall.calibrate(600_000);
  recall.close();
  await store.close();
  return folder;
}

/** A block that leaves nothing in view. */
async function* emptyBlock(entries: readonly Entry[]): AsyncGenerator<ChatEvent, NewCompressBlock> {
  yield { type: 'notice', level: 'info', text: 'Nothing stays in view.' };
  const counts = { messages_compacted: entries.length, messages_kept: 0 };
  const tokens = { tokens_before: asTokens(entries.length), tokens_after: asTokens(0) };
  return {
    type: 'compress',
    content: '',
    strategy: 'truncate',
    source: 'none',
    first_kept: null,
    ...counts,
    ...tokens,
  };
}

/** What finds in a history. */
export function recallIn(folder: string, store: HistoryStore, writes = true): Recall {
  return new Recall({ folder: join(folder, 'recall'), history: store, writes });
}

/** A search for words and nothing else. */
export function searchFor(query: string, more: Partial<Search> = {}): Search {
  return { query, who: null, from: null, until: null, count: 5, ...more };
}

/** The ids that a new process finds for some searches. */
export async function foundIn(folder: string, writes = true): Promise<readonly (readonly number[])[]> {
  const store = await openIn(folder);
  const recall = recallIn(folder, store, writes);
  if (writes) await recall.catchUp(60_000);
  const found: (readonly number[])[] = [];
  for (const query of [...RARE, 'question about the people', 'zeppelin bassoon']) {
    found.push((await recall.search(searchFor(query))).hits.map(({ message }) => message.id));
  }
  recall.close();
  await store.close();
  return found;
}

/** The files of the index, each as its path and its bytes. */
export function indexFiles(folder: string): readonly (readonly [path: string, bytes: Buffer])[] {
  const root = join(folder, 'recall');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [path.slice(folder.length), readFileSync(path)] as const);
}

/** The files of the index, each as its path and the hash of its bytes: `toEqual` would compare bytes one by one. */
export function indexHashes(folder: string): readonly (readonly [path: string, hash: string])[] {
  return indexFiles(folder).map(([path, bytes]) => [path, createHash('sha256').update(bytes).digest('hex')] as const);
}

/** Changes one byte of a file. */
export function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0x55;
  writeFileSync(path, bytes);
}
