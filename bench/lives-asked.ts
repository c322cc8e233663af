import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Entry } from '../lib/chat/entry.js';
import { isPart, recalledIn } from '../lib/chat/message.js';
import { asTokens } from '../lib/chat/request.js';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { loadCodec } from '../lib/history/file/codec.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { HistoryStore } from '../lib/history/store.js';
import { startScriptedServer } from '../spec/support/scripted-server.js';
import type { Life, LifeQuestion } from './recall-lives.js';
import { median, type Row } from './row.js';

const HI = resolve('dist/hi.js');

/** The number of processes with one question each, and of messages that stay in view. */
const ASKED = 60;
const VIEW = 6;

/** The number of runs with and without recall that are compared. */
const ROUNDS = 9;

/**
 * How much of the evidence the built program brings into the only message of a process, and how much later its request
 * leaves.
 */
export async function askedRows(life: Life): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-asked-'));
  const arrivals: number[] = [];
  const server = await startScriptedServer(() => {
    arrivals.push(performance.now());
    return { text: 'ok' };
  });
  const settings = { provider: 'openai', model: 'scripted', api_base: server.base, context_window: 128_000 };
  const ask = async (data: string, question: string, recall: object): Promise<number> => {
    const config = join(root, 'config');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.json'), JSON.stringify({ ...settings, recall }), { mode: 0o600 });
    const begin = performance.now();
    await run(['ask', question], { config, data, cache: join(root, 'cache') });
    return (arrivals.at(-1) ?? Number.NaN) - begin;
  };
  try {
    const data = join(root, 'life');
    mkdirSync(data);
    replaceHistory(loadCodec(), historyPathsIn(data), 'life', entriesOf(life));
    await run(['recall', '--rebuild'], { config: join(root, 'none'), data, cache: join(root, 'cache') });
    const copy = join(root, 'copy');
    const onCopy = async (question: string, recall: object): Promise<number> => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(data, copy, { recursive: true });
      return await ask(copy, question, recall);
    };
    const step = life.questions.length / ASKED;
    const sample = Array.from({ length: ASKED }, (_, index) => life.questions[Math.floor(index * step)]);
    const found: boolean[] = [];
    for (const question of sample.filter((one): one is LifeQuestion => one !== undefined)) {
      await onCopy(question.q, {});
      const recalled = await recalledIds(copy);
      found.push(question.gold.some((id) => recalled.includes(id)));
    }
    const delays: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const question = sample[round]?.q ?? '';
      const without = await onCopy(question, { auto: false });
      delays.push((await onCopy(question, {})) - without);
    }
    const share = (100 * found.filter(Boolean).length) / found.length;
    const what = `hi ask in a conversation of ${Math.round(life.messages.length / 1000)}k messages`;
    return [
      {
        what: `${what}: evidence in the recorded message, ${found.length} processes`,
        value: share,
        unit: '%',
        least: 55,
      },
      { what: 'the same: the request leaves later than without recall by', value: median(delays), unit: 'ms' },
    ];
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function* entriesOf({ messages }: Life): Generator<Entry> {
  yield* messages;
  const id = messages.length + 1;
  const text = { content: 'What was said.', strategy: 'summary', source: 'model' } as const;
  const counts = { messages_compacted: messages.length - VIEW, messages_kept: VIEW };
  const sizes = { tokens_before: asTokens(100_000), tokens_after: asTokens(3000) };
  const at = messages.at(-1)?.at ?? '';
  yield { id, at, type: 'compress', ...text, ...counts, ...sizes, first_kept: id - VIEW };
}

/** The ids that the newest question in a folder recalls. */
async function recalledIds(folder: string): Promise<readonly number[]> {
  const store = await HistoryStore.open({ folder, now: () => new Date() });
  const newest = await store.newest(2);
  await store.close();
  return newest.flatMap((entry) =>
    'role' in entry && entry.content.some(isPart('text')) ? recalledIn(entry.content) : [],
  );
}

interface Folders {
  readonly config: string;
  readonly data: string;
  readonly cache: string;
}

/** Runs the built program. Rejects if it fails. */
async function run(args: readonly string[], { config, data, cache }: Folders): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    HI_CONFIG_DIR: config,
    HI_DATA_DIR: data,
    HI_CACHE_DIR: cache,
    HI_API_KEY: 'k',
  };
  const child = spawn(process.execPath, [HI, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const status = await new Promise((done) => child.once('close', done));
  if (status !== 0) throw new Error(`'hi ${args.join(' ')}' exited with ${status}.`);
}
