import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { type Message, textOf } from '../../lib/chat/message.js';
import { archived, exchange, fileIn, openIn, quickFolder, unzstd } from './history.js';
import { prose } from './prose.js';

/** A history file as its bytes, and what was written into it. */
export interface HistoryFile {
  readonly bytes: Buffer;
  readonly entries: readonly Entry[];
}

/** A file that hi wrote: so many turns, each text with this word in it. */
export async function hiFile(turns: number, word: string, characters = 40): Promise<HistoryFile> {
  const folder = quickFolder();
  const store = await openIn(folder);
  for (let turn = 0; turn < turns; turn += 1) {
    await exchange(store, `question ${turn} of ${word}`, `${word} ${turn} ${prose(characters, turn)}`);
  }
  const entries = await archived(store);
  await store.close();
  const bytes = readFileSync(fileIn(folder));
  rmSync(folder, { recursive: true });
  return { bytes, entries };
}

/** A file with these entries by the `zstd` program. */
export function foreignFile(entries: readonly unknown[], options: readonly string[] = []): Buffer {
  return compressed(JSON.stringify(entries), options);
}

/** A text as the `zstd` program compresses it. */
export function compressed(text: string | Buffer, options: readonly string[] = []): Buffer {
  return spawnSync('zstd', ['-c', ...options], { input: text, maxBuffer: 2 ** 30 }).stdout;
}

/** What became of a data folder with this history. */
export interface Outcome {
  readonly entries: readonly Entry[];
  /** Notices as one text. */
  readonly told: string;
  /** The files that are kept beside it, by what their names end with. */
  readonly kept: readonly Buffer[];
  /** What is in those with entries that no checksum confirms. */
  readonly unverified: readonly Entry[];
  /** What the `zstd` program prints for the history. */
  readonly printed: string | null;
}

/** Opens a history of these bytes and says one thing more, when `more` is given. */
export async function outcomeOf(bytes: Buffer, more: string | null = null): Promise<Outcome> {
  const folder = quickFolder();
  writeFileSync(fileIn(folder), bytes);
  const store = await openIn(folder);
  if (more !== null) await exchange(store, more, 'yes');
  const entries = await archived(store);
  const told = store.takeNotices().join('\n');
  await store.close();
  const names = readdirSync(folder).filter((name) => name.includes('damaged'));
  const read = (name: string) => readFileSync(join(folder, name));
  const isUnverified = (name: string) => name.includes('unverified');
  const unverified = names.filter(isUnverified).flatMap((name) => JSON.parse(unzstd(read(name)) ?? '[]'));
  const kept = names.filter((name) => !isUnverified(name)).map(read);
  const printed = readdirSync(folder).includes('history.json.zst') ? unzstd(readFileSync(fileIn(folder))) : null;
  rmSync(folder, { recursive: true });
  return { entries, told, kept, unverified, printed };
}

/** What was said, in order. */
export function texts(entries: readonly Entry[]): readonly string[] {
  return entries.filter(isMessage).map(({ content }) => textOf(content));
}

/**
 * What is wrong with the order of some entries: ids that do not ascend, answers in no turn or in one of another
 * conversation.
 */
export function disorder(entries: readonly Entry[]): readonly string[] {
  const asked = new Map(entries.filter(isMessage).map((message) => [message.id, message]));
  return entries.flatMap((entry, index) => {
    const before = entries[index - 1]?.id ?? 0;
    const wrong = entry.id > before ? [] : [`${entry.id} follows ${before}`];
    const question = isMessage(entry) ? asked.get(entry.turn) : undefined;
    return isMessage(entry) && !isAnswered(question, entry) ? [...wrong, `${entry.id} is in no turn`] : wrong;
  });
}

function isAnswered(question: Message | undefined, message: Message): boolean {
  return question !== undefined && question.role === 'user' && question.id <= message.id;
}
