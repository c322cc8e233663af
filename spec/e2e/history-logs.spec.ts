import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { HistoryStore } from '../../lib/history/store.js';
import { exchange } from '../support/history.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let home: Home;
let server: ScriptedServer;

beforeEach(async () => {
  server = await startScriptedServer(({ messages }) => ({ text: `Answer to ${messages.at(-1)?.content}.` }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});

afterEach(async () => {
  await server.close();
  home.remove();
});

const hi = (...args: string[]) => runProgram(home, args);
const listed = async (...args: string[]): Promise<JsonObject[]> =>
  JSON.parse((await hi('history', '--json', ...args)).stdout);

/** A conversation with a question a day. */
async function past(...days: readonly string[]): Promise<void> {
  for (const day of days) {
    const store = await HistoryStore.open({ folder: home.data, now: () => new Date(`${day}T12:00:00`) });
    await exchange(store, `asked on ${day}`, `answered on ${day}`);
    await store.close();
  }
}
const textsOf = (entries: readonly JsonObject[]) => entries.map(({ content }) => Object(content)[0]?.text);

describe('hi history for programs', () => {
  it('prints the messages since a time, until a time, and of a role', async () => {
    await past('2026-01-05', '2026-02-05', '2026-03-05');
    expect(textsOf(await listed('--since', '2026-02', '--until', '2026-02'))).toEqual([
      'asked on 2026-02-05',
      'answered on 2026-02-05',
    ]);
    expect(textsOf(await listed('--since', '2026-02-06', '--role', 'assistant'))).toEqual(['answered on 2026-03-05']);
    expect(textsOf(await listed('--role', 'user', '-n', '2'))).toEqual(['asked on 2026-02-05', 'asked on 2026-03-05']);
    expect(textsOf(await listed('--find', 'asked', '--until', '2026-01'))).toEqual(['asked on 2026-01-05']);
    expect(textsOf(await listed('--find', 'on', '--role', 'assistant', '--since', '2026-03'))).toEqual([
      'answered on 2026-03-05',
    ]);
    expect(await listed('--role', 'tool')).toEqual([]);
    expect((await hi('history', '--since', '2026-03')).stdout).toMatch(/^[^\n]*2026[\s\S]*asked on 2026-03-05/);
  });

  it('always prints the fields in the same order', async () => {
    await hi('ask', 'one');
    await hi('ask', 'two');
    const [user, answer, ...rest] = (await listed()).map((entry) => Object.keys(entry));
    expect(user?.slice(0, 5)).toEqual(['id', 'turn', 'at', 'role', 'content']);
    expect(rest).toEqual([user, answer]);
  });

  it.each([
    ['a time that is none', ['--since', 'soon'], "Cannot read the time 'soon'"],
    [
      'times in the wrong order',
      ['--since', '2026-03', '--until', '2026-02'],
      "--since '2026-03' is later than --until '2026-02'",
    ],
    ['an unknown role', ['--role', 'model'], "'model'"],
    ['a search that goes on', ['--follow', '--find', 'x'], 'Cannot use --follow and --find together'],
  ])('refuses %s', async (_title, args, message) => {
    const run = await hi('history', ...args);
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  it('follows what other processes add, one object per line, until it is stopped, even after a reset', async () => {
    await hi('ask', 'zero');
    await hi('ask', 'one');
    const child = spawn(RUNTIME, [PROGRAM, 'history', '--follow', '--json', '--role', 'user', '-n', '1'], {
      env: home.env,
    });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const lines = () =>
      textsOf(
        printed
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      );
    const until = async (...wanted: string[]) => {
      for (let turn = 0; turn < 100 && lines().length < wanted.length; turn += 1)
        await new Promise((resolve) => setTimeout(resolve, 100));
      expect(lines()).toEqual(wanted);
    };
    try {
      await until('one');
      await hi('ask', 'two');
      await until('one', 'two');
      await hi('reset', '-y');
      await hi('ask', 'three');
      await until('one', 'two', 'three');
    } finally {
      child.kill('SIGINT');
    }
    const [status] = await once(child, 'exit');
    expect(status).toBe(130);
  });

  it('waits for a conversation that has not started', async () => {
    const child = spawn(RUNTIME, [PROGRAM, 'history', '--follow'], { env: home.env });
    const heard = once(child.stdout, 'data');
    await hi('ask', 'first');
    expect(String(await heard)).toContain('first');
    child.kill('SIGTERM');
    const [status] = await once(child, 'exit');
    expect(status).toBe(143);
  });
});
