import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { longHistory } from '../support/recall.js';
import { openTerminal, type Terminal } from '../support/terminal.js';

/** So many messages take longer than a second to read on any machine. */
const MESSAGES = 300_000;

let home: Home;
let terminal: Terminal | undefined;

beforeAll(() => {
  home = makeHome({ provider: 'openai', model: 'm' });
  mkdirSync(home.data);
  const large = `${home.folder}/large`;
  const words = 'The quick brown fox jumps over the lazy dog. '.repeat(4);
  const at = '2026-01-01T00:00:00.000Z';
  const messages = Array.from({ length: MESSAGES }, (_, place) => {
    const role = place % 2 === 0 ? 'user' : 'assistant';
    const content = [{ type: 'text', text: `${place} ${words}` }];
    return JSON.stringify({
      id: place + 1,
      turn: place + 1 - (place % 2),
      at,
      cwd: '/',
      role,
      content,
      stop_reason: 'end',
    });
  });
  writeFileSync(`${large}.json`, `[${messages.join(',\n')}]`);
  execFileSync('zstd', ['-q', '-1', `${large}.json`, '-o', home.historyFile]);
});

afterEach(async () => await terminal?.close());
afterAll(() => home.remove());

/** What the program drew on its terminal, stdout being a file, and what is left there. */
async function run(...args: readonly string[]): Promise<{ drawn: string; left: string; status: number }> {
  const opened = openTerminal('/bin/sh', ['-c', '"$@" > out', 'sh', RUNTIME, PROGRAM, ...args], {
    env: home.env,
    cwd: home.work,
  });
  terminal = opened;
  const { status } = await opened.exit();
  return { drawn: opened.written(), left: opened.screen().trim(), status };
}

describe('a line on the terminal', () => {
  it('shows the progress of reading a large history of another program, and leaves no trace', async () => {
    const { status, drawn, left } = await run('status', '--json');
    expect(status).toBe(0);
    expect(drawn).toMatch(/\rReading the history: \d+%/);
    expect(left).toBe('');
    expect(JSON.parse(readFileSync(`${home.work}/out`, 'utf8'))).toMatchObject({ messages: MESSAGES });
    expect(await run('status', '--quiet', '--json')).toEqual({ status: 0, drawn: '', left: '' });
  }, 120_000);

  it('shows how much of the conversation a search has indexed', async () => {
    rmSync(home.data, { recursive: true });
    cpSync((await longHistory(40))(), home.data, { recursive: true });
    const { status, drawn, left } = await run('recall', 'lagoon');
    expect(status).toBe(0);
    expect(drawn).toMatch(/\rIndexing: \d+%/);
    expect(left).not.toMatch(/Indexing/);
    expect(readFileSync(`${home.work}/out`, 'utf8')).toContain('lagoon');
  }, 120_000);
});
