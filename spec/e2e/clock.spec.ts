import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { exchange, openIn } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;
let elsewhere: string;

const settings = (more: object = {}) => ({ provider: 'openai', model: 'scripted', api_base: server.base, ...more });

const lastSent = (): string => String(server.requests.at(-1)?.messages.at(-1)?.content);

async function ask(text: string, more: { readonly cwd?: string; readonly TZ?: string } = {}): Promise<string> {
  const { cwd, TZ = 'Asia/Tokyo' } = more;
  const { status } = await runProgram(home, ['ask', text], { env: { TZ }, ...(cwd === undefined ? {} : { cwd }) });
  expect(status).toBe(0);
  return lastSent();
}

beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok' }));
  home = makeHome(settings());
  elsewhere = mkdtempSync(join(tmpdir(), 'hi-elsewhere-'));
  const store = await openIn(home.data);
  await exchange(store, 'Long ago', 'It was.');
  await store.close();
});

afterEach(async () => {
  await server.close();
  home.remove();
  rmSync(elsewhere, { recursive: true });
});

const LINE = /^\[[A-Z][a-z]{2} \d+ [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC\+9 · [^\n]+\]\n+/;

describe('the clock', () => {
  it('is added before the words of a message when time has passed, stays unchanged, and is added again only after a change', async () => {
    const first = await ask('How late is it?');
    expect(first).toMatch(LINE);
    expect(first.replace(LINE, '')).toBe('How late is it?');
    expect(await ask('And now?')).toBe('And now?');
    expect(server.requests.at(-1)?.messages.map(({ content }) => content)).toContain(first);
    expect(await ask('Here?', { cwd: elsewhere })).toMatch(/^\[.* UTC\+9 · .*hi-elsewhere-.*\]\n+Here\?$/);
    expect(await ask('There?', { cwd: elsewhere, TZ: 'UTC' })).toMatch(/^\[.*\d UTC · .*\]\n+There\?$/);
  });

  it('is not shown as words of the user, not found, and not returned by /undo', async () => {
    await ask('How late is it?');
    const all = await Promise.all(
      [
        ['history'],
        ['history', '--md'],
        ['history', '--find', 'late'],
        ['recall', 'late'],
        ['recall', 'late', '--json'],
        ['history', '--find', 'UTC'],
      ].map((args) => runProgram(home, args, { env: { TZ: 'Asia/Tokyo' } })),
    );
    for (const { stdout } of all.filter((_, index) => index !== 4)) expect(stdout).not.toContain('UTC+9');
    expect(all[4]?.stdout).toContain('"text": "How late is it?"');
    const chat = await runProgram(home, ['chat'], {
      input: '/history\n/find late\n/undo\n',
      env: { TZ: 'Asia/Tokyo' },
    });
    expect(chat.stdout).toContain('How late is it?');
    expect(chat.stdout + chat.stderr).not.toContain('UTC+9');
  });

  it('is off with "clock": false', async () => {
    home.writeConfig(JSON.stringify(settings({ clock: false })));
    expect(await ask('How late is it?')).toBe('How late is it?');
    const { stdout } = await runProgram(home, ['history', '--json']);
    expect(stdout).not.toMatch(/"(?:clock|zone|host)"/);
  });
});
