import { execFileSync } from 'node:child_process';
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { openTerminal, type Terminal } from '../support/terminal.js';
import { openVendorHouse, type VendorHouse } from '../support/vendor-house.js';

/** So many messages take longer than a second to read on any machine. */
const MESSAGES = 100_000;

let house: VendorHouse;
let home: Home;
let large: string;
let terminal: Terminal | undefined;

beforeAll(async () => {
  house = await openVendorHouse('openai', { text: 'Fine.' });
  home = makeHome({ provider: 'openai', model: 'm', api_base: house.base, compaction: { strategy: 'truncate' } });
  large = `${home.folder}/large.zst`;
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
  execFileSync('zstd', ['-q', '-1', `${large}.json`, '-o', large]);
  mkdirSync(home.data);
}, 60_000);

afterEach(async () => await terminal?.close());
afterAll(async () => {
  await house.close();
  home.remove();
});

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
  it('says how far the reading of a large history of another program is, its conversion, and its export, and leaves no trace', async () => {
    copyFileSync(large, home.historyFile);
    const asked = await run('ask', 'hello');
    expect(asked.status).toBe(0);
    expect(asked.drawn).toMatch(/\rReading the history: \d+ %/);
    expect(asked.drawn).toMatch(/\rConverting the history: \d+ %/);
    expect(asked.left).not.toMatch(/Reading|Converting/);
    const exported = await run('history', '--json');
    expect(exported).toMatchObject({
      status: 0,
      left: '',
      drawn: expect.stringMatching(/\rReading the history: \d+ %/),
    });
    expect(JSON.parse(readFileSync(`${home.work}/out`, 'utf8')).length).toBeGreaterThan(MESSAGES + 1);
    const indexed = await run('recall', '--rebuild');
    expect(indexed).toMatchObject({ status: 0, left: 'Indexed the whole conversation.' });
    expect(indexed.drawn).toMatch(/\rIndexing: \d+ %/);
  }, 120_000);

  it('says so of the repair of a damaged one', async () => {
    copyFileSync(large, home.historyFile);
    const file = openSync(home.historyFile, 'r+');
    writeSync(file, Buffer.alloc(40), 0, 40, 300_000);
    closeSync(file);
    const { drawn, left } = await run('status');
    expect(drawn).toMatch(/\rChecking the history: \d+ %/);
    expect(left).not.toMatch(/Checking|Saving/);
    expect(left).toMatch(/damaged/);
  }, 120_000);
});
