import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../../lib/chat/entry.js';
import type { NewMessage, StopReason } from '../../lib/chat/message.js';
import { HistoryStore } from '../../lib/history/store.js';

const MEMORY = '/dev/shm';

/** A data folder of its own for one spec. */
export function dataFolder(): string {
  return mkdtempSync(join(tmpdir(), 'hi-history-'));
}

/** A data folder in memory where the machine has one, for specs that write more often than a disk likes. */
export function quickFolder(): string {
  // jest.config.js removes what is left in the folder that it made there.
  const isQuick = tmpdir().startsWith(MEMORY) || !existsSync(MEMORY);
  return mkdtempSync(join(isQuick ? tmpdir() : MEMORY, 'hi-history-'));
}

/** Where the history of a data folder is. */
export function fileIn(folder: string): string {
  return join(folder, 'history.json.zst');
}

/** Opens the history of a data folder, on the day of the specs. */
export async function openIn(
  folder: string,
  more: { readonly ephemeral?: boolean; readonly aside?: boolean; readonly now?: () => Date } = {},
): Promise<HistoryStore> {
  return await HistoryStore.open({ folder, now: () => new Date('2026-11-22T10:00:00Z'), ...more });
}

/** What the `zstd` program prints for a history; throws when it is not content with the file. */
export function printed(folder: string): string {
  const { status, stdout, stderr } = spawnSync('zstd', ['-dc', fileIn(folder)], { maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`zstd: ${stderr.toString()}`);
  return stdout.toString();
}

/** Bytes as the `zstd` program compresses them. */
export function zstd(input: Buffer): Buffer {
  return spawnSync('zstd', ['-c'], { input, maxBuffer: 2 ** 30 }).stdout;
}

/** What the `zstd` program makes of such bytes; null when it is not content with them. */
export function unzstd(input: Buffer): string | null {
  const { status, stdout } = spawnSync('zstd', ['-dc'], { input, maxBuffer: 2 ** 30 });
  return status === 0 ? stdout.toString() : null;
}

/** What a user says. */
export function says(text: string): NewMessage {
  return { role: 'user', content: [{ type: 'text', text }], cwd: '/' };
}

/** What the model answers, and why it stopped. */
export function answers(text: string, stop_reason: StopReason = 'end'): NewMessage {
  return { role: 'assistant', content: [{ type: 'text', text }], cwd: '/', stop_reason };
}

/** A whole turn. */
export async function exchange(store: HistoryStore, question: string, answer: string): Promise<readonly Entry[]> {
  const asked = await store.begin(says(question));
  return [asked, ...(await store.append(asked.id, [answers(answer)]))];
}

/** Everything a store has ever stored. */
export async function archived(store: HistoryStore): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of store.archive()) entries.push(entry);
  return entries;
}
