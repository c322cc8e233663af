import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Entry } from '../lib/chat/entry.js';
import type { NewMessage } from '../lib/chat/message.js';
import { asTokens } from '../lib/chat/request.js';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { loadCodec } from '../lib/history/file/codec.js';
import { LogFile } from '../lib/history/file/log-file.js';
import { runLocked } from '../lib/history/lock/lock.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { prose } from '../spec/support/prose.js';
import { compile } from './compile.js';
import { median, type Row } from './row.js';

/** Lengths of the conversation, in messages of 400 characters. */
const LENGTHS = [100, 1_000, 10_000, 100_000, 1_000_000];
const CHARACTERS = 400;
/** The number of messages in the view, whatever the length of the conversation. */
const VIEW = 100;
/** Every round measures every length, so that other load on the machine affects all of them. */
const ROUNDS = 6;
const APPENDS = 100;
const OPENINGS = 3;

/** The measurements for one length of the conversation. */
interface Found {
  readonly length: number;
  readonly folder: string;
  /** The ratio of the file's size to that of the same array after `zstd -3`. */
  readonly size: number;
  /** The time to append one message and sync it to disk, in milliseconds. */
  readonly append: number[];
  /** The time to seal the appended messages, in milliseconds. */
  readonly seal: number[];
  /**
   * Opening the history for the next request in a new process: milliseconds, without loading the program, and peak
   * memory in MiB.
   */
  readonly open: number[];
  readonly memory: number[];
}

/** What the history costs, from a hundred messages to a million. */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-'));
  try {
    const opener = await compile('bench/history-open.ts', root);
    const found = LENGTHS.map((length) => prepared(root, length));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const one of found) {
        for (let count = 0; count < OPENINGS; count += 1) opened(opener, one);
        await appended(one);
      }
    }
    return [...found.flatMap(rowsOf), ...promises(found)];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function rowsOf({ length, append, seal, open, memory, size }: Found): readonly Row[] {
  const at = `at ${length.toLocaleString('en')} messages`;
  return [
    { what: `append ${at}, on disk`, value: median(append), unit: 'ms' },
    { what: `sealing ${at}, spread over the messages`, value: spread(seal), unit: 'ms' },
    { what: `open ${at} for the next request`, value: median(open), unit: 'ms' },
    { what: `open ${at}, peak memory of the process`, value: median(memory), unit: 'MiB' },
    { what: `size ${at} against one zstd -3`, value: size, unit: '×' },
  ];
}

/** The figures that must not grow with the conversation. */
function promises(found: readonly Found[]): readonly Row[] {
  const [first, last] = [found[0], found.at(-1)];
  if (!first || !last) return [];
  const ratio = (what: string, of: (one: Found) => readonly number[], limit: number): Row => {
    return { what, value: median(of(last)) / median(of(first)), unit: '×', limit };
  };
  return [
    ratio('append at the longest against the shortest', ({ append }) => append, 2),
    ratio('open at the longest against the shortest', ({ open }) => open, 1.5),
    ratio('memory at the longest against the shortest', ({ memory }) => memory, 1.5),
    {
      what: 'size against one zstd -3, at its worst',
      value: found.reduce((worst, { size }) => Math.max(worst, size), 0),
      unit: '×',
      limit: 1.15,
    },
    {
      what: 'sealing, spread over the messages, at its worst',
      value: found.reduce((worst, { seal }) => Math.max(worst, spread(seal)), 0),
      unit: 'ms',
      limit: 1,
    },
  ];
}

function spread(seals: readonly number[]): number {
  return seals.reduce((sum, time) => sum + time, 0) / (ROUNDS * APPENDS);
}

function prepared(root: string, length: number): Found {
  const folder = join(root, String(length));
  const paths = historyPathsIn(folder);
  mkdirSync(folder);
  replaceHistory(loadCodec(), paths, 'bench', conversation(length));
  const size = statSync(paths.history).size / zstdSize(paths.history);
  return { length, folder, size, append: [], seal: [], open: [], memory: [] };
}

/**
 * A conversation that was compacted after every thousand messages, and at its end so that the view holds the newest
 * hundred.
 */
export function* conversation(length: number): Generator<Entry> {
  let id = 0;
  for (let count = 1; count <= length; count += 1) {
    id += 1;
    const turn = count % 2 === 1 ? id : id - 1;
    yield { id, turn, at: new Date(1.7e12 + id * 1000).toISOString(), ...said(count) };
    if (count % 1000 !== 0 && count !== length) continue;
    id += 1;
    if (length > VIEW) yield block(id, count === length ? id - VIEW : id - 6);
  }
}

function block(id: number, first_kept: number): Entry {
  const [messages_compacted, messages_kept] = [900, id - first_kept];
  const sizes = { tokens_before: asTokens(100_000), tokens_after: asTokens(2000) };
  const text = { content: prose(4000, id), strategy: 'summary', source: 'model' } as const;
  return {
    id,
    at: '2026-11-22T10:00:00Z',
    type: 'compress',
    ...text,
    first_kept,
    messages_compacted,
    messages_kept,
    ...sizes,
  };
}

/** Enough text that it repeats only outside the window of any compressor. */
const TEXT = Array.from({ length: 64 }, (_, index) => prose(2 ** 20, index)).join('');

function said(count: number): NewMessage {
  const start = (count * CHARACTERS) % (TEXT.length - CHARACTERS);
  const content = [{ type: 'text', text: TEXT.slice(start, start + CHARACTERS) }] as const;
  if (count % 2 === 1) return { cwd: '/home/user', role: 'user', content };
  return { cwd: '/home/user', role: 'assistant', content, stop_reason: 'end', model: 'model', provider: 'openai' };
}

/** The fence against another holder of the lock. Here there is none. */
const NOTHING = (): void => {};

/** Appends under the lock, like the store, and measures the sealing separately. */
async function appended({ folder, append, seal }: Found): Promise<void> {
  const file = LogFile.open(loadCodec(), historyPathsIn(folder).history, 'r+');
  const [first] = file.load();
  for (let count = 0; count < APPENDS; count += 1) {
    const start = performance.now();
    await runLocked(folder, NOTHING, () => {
      file.readNew();
      const id = file.facts.last + 1;
      file.append([{ id, turn: id, at: new Date().toISOString(), ...said(2 * count + 1), stop_reason: 'end' }]);
    });
    await file.sync();
    append.push(performance.now() - start);
    if (!file.isSealDue) continue;
    const sealing = performance.now();
    await runLocked(folder, NOTHING, () => file.seal(first?.id ?? null));
    seal.push(performance.now() - sealing);
  }
  file.close();
}

function opened(opener: string, { folder, open, memory }: Found): void {
  const cost = JSON.parse(execFileSync(process.execPath, [opener, folder], { encoding: 'utf8' }));
  open.push(cost.open);
  memory.push(cost.memory);
}

/** The size of the same array after `zstd -3`, in bytes. */
function zstdSize(path: string): number {
  const { stdout } = spawnSync('sh', ['-c', 'zstd -dc "$0" | zstd -3 -c | wc -c', path], { encoding: 'utf8' });
  return Number(stdout);
}
