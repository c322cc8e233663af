import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prose } from '../spec/support/prose.js';
import { type SentRequest, startScriptedServer } from '../spec/support/scripted-server.js';
import { CLOCK } from './price.js';
import { median, type Row } from './row.js';
import { PROGRAM } from './start.js';

/** The number of rests; after every so many the same question is asked of a copy without one. */
const RESTS = 200;
const STEP = 5;

const PAUSE = 2 * 3_600_000;

/** How long the small model takes for a summary, in milliseconds. */
const SUMMARY = 20_000;

/** The characters of an answer: one exchange is more than `view.keep`, two are more than `view.limit`. */
const ANSWER = 18_000;

const isSummary = ({ messages }: SentRequest): boolean =>
  JSON.stringify(messages).includes('You keep the record of one long conversation');

interface Asked {
  /** Milliseconds to the first text, and from the last text to the exit. */
  readonly first: number;
  readonly exit: number;
  readonly hasRested: boolean;
}

/** What a conversation that rests before each question waits for, with a slow summariser. */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-rests-'));
  let asked = 0;
  let early = 0;
  let hasAnswered = false;
  const server = await startScriptedServer((request) => {
    if (isSummary(request)) {
      if (!hasAnswered) early += 1;
      return { text: '=== SUMMARY ===\nThey talked.', delay: SUMMARY };
    }
    hasAnswered = true;
    asked += 1;
    return { text: prose(ANSWER, asked) };
  });
  const settings = { provider: 'openai', model: 'scripted', api_base: server.base, small_model: { model: 'small' } };
  try {
    writeFileSync(join(root, 'clock.cjs'), CLOCK);
    for (const [name, view] of [['rest', {}] as const, ['whole', { rest: 'off' }] as const]) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'config.json'), JSON.stringify({ ...settings, view }), { mode: 0o600 });
    }
    const rested: Asked[] = [];
    const later: number[] = [];
    for (let number = 0; rested.length < RESTS; number += 1) {
      hasAnswered = false;
      const isCompared = number % STEP === STEP - 1;
      if (isCompared) cpSync(join(root, 'data'), join(root, 'copy'), { recursive: true });
      const one = await ask(root, 'rest', 'data', number);
      if (one.hasRested) rested.push(one);
      else if (number > 1) throw new Error(`Question ${number} came without a rest.`);
      if (!isCompared) continue;
      later.push(one.first - (await ask(root, 'whole', 'copy', number)).first);
      rmSync(join(root, 'copy'), { recursive: true });
    }
    const what = `${RESTS} rests, summaries take ${SUMMARY / 1000} s`;
    return [
      { what: `${what}: summaries asked for before an answer`, value: early, unit: '', limit: 0 },
      {
        what: 'the same: the first text comes later than without the rest by',
        value: median(later),
        unit: 'ms',
        limit: 50,
      },
      {
        what: 'the same: the slowest exit after an answer',
        value: rested.reduce((most, { exit }) => Math.max(most, exit), 0) / 1000,
        unit: 's',
        limit: 2,
      },
    ];
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Asks a question so many pauses after the first. */
async function ask(root: string, config: string, data: string, number: number): Promise<Asked> {
  const own = (name: string): string => join(root, name);
  const folders = { HI_CONFIG_DIR: own(config), HI_DATA_DIR: own(data), HI_CACHE_DIR: own('cache'), HOME: root };
  const env = { PATH: process.env.PATH, ...folders, HI_API_KEY: 'k', HI_BENCH_CLOCK: String(number * PAUSE) };
  const begin = performance.now();
  const command = ['--require', own('clock.cjs'), PROGRAM, 'ask', `What of ${prose(40, number)}?`];
  const child = spawn(process.execPath, command, { env, cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let first = Number.NaN;
  let last = Number.NaN;
  let notes = '';
  child.stdout.on('data', () => {
    last = performance.now();
    if (Number.isNaN(first)) first = last - begin;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    notes += chunk;
  });
  const status = await new Promise((done) => child.once('close', done));
  if (status !== 0) throw new Error(`Question ${number} exited with ${status}: ${notes}`);
  return { first, exit: performance.now() - last, hasRested: notes.includes('left the view') };
}
