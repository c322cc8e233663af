import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../lib/chat/entry.js';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { loadCodec } from '../lib/history/file/codec.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { missing, type RealServer, startRealServer } from '../spec/support/real-server.js';
import { talks } from './recall-talks.js';
import { median, type Row } from './row.js';
import { PROGRAM } from './start.js';

/** The messages of the old conversation, and the number of rounds. */
const MESSAGES = 1200;
const ROUNDS = 5;

const QUESTIONS = ['What did Caroline say about the support group?', 'What is 2+2?', 'And 3+3?'] as const;

/**
 * Seconds to the first token of a real Ollama in an old conversation against a fresh one, first with another prompt in
 * its cache, then with the last one.
 */
export async function rows(): Promise<readonly Row[]> {
  const reason = missing([]);
  if (reason !== null) throw new Error(`This part needs a real server: ${reason}.`);
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-local-'));
  await using server = await startRealServer('ollama', '--capabilities', 'tools');
  try {
    const life = lifeIn(root, server);
    await ask(root, join(root, 'warm-up'), 'hello');
    const rounds: Times[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const fresh = await asked(root, null, server);
      rounds.push({ fresh, old: await asked(root, life, server) });
    }
    return [
      ratioRow(
        'a real Ollama, 600 turns: first token of the first question against that of a fresh chat',
        rounds,
        0,
        2,
      ),
      ratioRow('the same: the next questions', rounds, 1, 1.5),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Times {
  readonly fresh: readonly number[];
  readonly old: readonly number[];
}

function ratioRow(what: string, rounds: readonly Times[], from: number, limit: number): Row {
  const some = (times: readonly number[]): number =>
    times.slice(from, from === 0 ? 1 : undefined).reduce((sum, time) => sum + time, 0);
  return { what, value: median(rounds.map(({ fresh, old }) => some(old) / some(fresh))), unit: '×', limit };
}

/** A conversation that ended a day ago. Returns its folder. */
function lifeIn(root: string, { url, model }: RealServer): string {
  const options = { max_output_tokens: 8 };
  const settings = { provider: 'ollama', model, api_base: url, small_model: null, options };
  for (const name of ['config', 'work', 'life']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'config', 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  const data = join(root, 'life');
  replaceHistory(loadCodec(), historyPathsIn(data), 'life', lifeEntries());
  return data;
}

function* lifeEntries(): Generator<Entry> {
  const said = talks('locomo-dev').flatMap(({ messages }) => messages.map(({ text }) => text));
  const end = Date.now() - 24 * 3_600_000;
  for (const [index, text] of said.slice(0, MESSAGES).entries()) {
    const id = index + 1;
    const at = new Date(end - (MESSAGES - id) * 600_000).toISOString();
    const common = { id, at, cwd: '/', content: [{ type: 'text', text }] } as const;
    if (id % 2 === 1) yield { ...common, turn: id, role: 'user' };
    else yield { ...common, turn: id - 1, role: 'assistant', stop_reason: 'end' };
  }
}

/** Milliseconds to the first token of each question, asked of a copy of a life, or of a fresh one. */
async function asked(root: string, life: string | null, { url, model }: RealServer): Promise<readonly number[]> {
  const data = join(root, 'copy');
  rmSync(data, { recursive: true, force: true });
  if (life !== null) cpSync(life, data, { recursive: true });
  await fillCache(url, model);
  const times: number[] = [];
  for (const question of QUESTIONS) times.push(await ask(root, data, question));
  return times;
}

/** Has the server read something else. */
async function fillCache(url: string, model: string): Promise<void> {
  const messages = [{ role: 'user', content: `${Date.now()} ${'Entirely different words come here. '.repeat(60)}` }];
  const body = JSON.stringify({ model, messages, stream: false, options: { num_predict: 2, num_ctx: 8192 } });
  await (await fetch(`${url}/api/chat`, { method: 'POST', body })).text();
}

async function ask(root: string, data: string, question: string): Promise<number> {
  const own = (name: string): string => join(root, name);
  const folders = { HOME: own('work'), HI_CONFIG_DIR: own('config'), HI_DATA_DIR: data, HI_CACHE_DIR: own('cache') };
  const begin = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'ask', question], {
    env: { PATH: process.env.PATH, ...folders },
    cwd: own('work'),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let first = Number.NaN;
  child.stdout.once('data', () => {
    first = performance.now() - begin;
  });
  child.stdout.resume();
  const status = await new Promise((done) => child.once('close', done));
  if (status !== 0) throw new Error(`'hi ask ${question}' exited with ${status}.`);
  return first;
}
