import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HistoryStore } from '../../lib/history/store.js';
import { chatDriver } from '../support/chat.js';
import { answers, says } from '../support/history.js';
import { type Home, makeHome, PROGRAM, RUNTIME, type RunOptions, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { KEY, openTerminal } from '../support/terminal.js';

const HOUR = 3_600_000;

/** A vendor's own model with a published price: nothing of these specs is sent to it. */
const VENDOR = { provider: 'anthropic', model: 'claude-sonnet-4-5', api_key: 'k' };

let server: ScriptedServer;
let home: Home;

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);
const sent = (): string => JSON.stringify(server.requests.at(-1)?.messages);

/** A conversation of twenty exchanges with so many characters each, that ended ten hours ago. */
async function fill(data: string, characters: number): Promise<void> {
  let at = Date.now() - 11 * HOUR;
  const now = (): Date => {
    at += 10_000;
    return new Date(at);
  };
  const store = await HistoryStore.open({ folder: data, now });
  for (let turn = 0; turn < 20; turn += 1) {
    const { turn: id } = await store.begin(says(`question-${turn}`));
    await store.append(id, [answers(`answer-${turn} ${prose(characters, turn)}`)]);
  }
  await store.close();
}

beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, recall: { auto: false } });
});

afterEach(async () => {
  await server.close();
  home.remove();
});

describe('hi ask --all', () => {
  it('sends everything after a night, says what that is, and once more while it is cached', async () => {
    await fill(home.data, 6000);
    await hi(['ask', 'good morning']);
    expect(sent()).not.toContain('answer-3 ');
    const { status, stdout, stderr } = await hi(['ask', '--all', 'what was the third?']);
    expect([status, stdout]).toEqual([0, 'ok\n']);
    expect(stderr).toMatch(
      /^42 messages · 3\d(\.\d)?k tokens, without the answer: costs nothing\n── 42 messages in view · 3\S* tokens ──\n$/,
    );
    for (let turn = 0; turn < 20; turn += 1) expect(sent()).toContain(`answer-${turn} `);
    const report = JSON.parse((await hi(['ask', '--json', 'and now?'])).stdout);
    expect(sent()).toContain('answer-3 ');
    expect(report.view.left_out).toBe(0);
    expect((await hi(['history'])).stdout).toContain('── 42 messages in view · ');
    expect((await hi(['chat'], { input: '/compactions\n' })).stdout).not.toContain('· all');
  });

  it('takes a question from stdin and answers with a schema, and writes nothing with -n', async () => {
    await fill(home.data, 6000);
    await hi(['ask', 'good morning']);
    await server.close();
    server = await startScriptedServer(() => ({ text: '{"n": 2}' }));
    home.writeConfig(JSON.stringify({ provider: 'openai', model: 'scripted', api_base: server.base }));
    expect((await hi(['ask', '--all', '-n', '--schema', 'n int'], { input: 'how many?' })).stdout).toBe('{"n": 2}\n');
    expect(sent()).toContain('answer-3 ');
    await hi(['ask', 'and now?']);
    expect(sent()).not.toContain('answer-3 ');
  });

  it('is not for an aside', async () => {
    const { status, stderr } = await hi(['ask', '--all', '--fresh', 'x']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('Leave out --fresh')]);
    expect(server.requests).toEqual([]);
  });

  it('refuses a dear question where it cannot ask, and asks on a terminal', async () => {
    home.writeConfig(JSON.stringify(VENDOR));
    await fill(home.data, 20_000);
    const { status, stdout, stderr } = await hi(['ask', '--all', 'everything?']);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /Not asked with everything: 40 messages · 10\dk tokens, without the answer: \$0\.\d\d and 4(\.\d)? s; .*\n.*add -y\.\n$/s,
    );
    const args = [PROGRAM, 'ask', '--all', 'everything?'];
    const terminal = openTerminal(RUNTIME, args, { env: home.env, cwd: home.work, columns: 100, rows: 20 });
    await terminal.until('Ask with everything?', 20_000);
    terminal.type(KEY.enter);
    expect(await terminal.exit()).toMatchObject({ status: 130 });
    terminal.close();
    expect((await hi(['history', '--json'])).stdout).not.toContain('everything?');
  });
});

describe('/all', () => {
  const open = chatDriver();

  it('asks with everything, and puts the line back where it is too dear', async () => {
    const chat = await open(() => ({ text: 'Here.' }), { compaction: { background: false } });
    await fill(chat.home.data, 20_000);
    await chat.open();
    await chat.say('good morning', /left the view[\s\S]*\/all asks with everything[\s\S]*Here\./);
    await chat.say('/context', /left out +3\d messages: recall finds them, \/all TEXT asks with them/);
    await chat.say('/all what was the third?', /42 messages · 10\dk tokens[\s\S]*Here\./);
    expect(JSON.stringify(chat.sent())).toContain('answer-3 ');
    chat.home.writeConfig(JSON.stringify(VENDOR));
    await chat.open();
    chat.terminal.type(`/all and the fourth?${KEY.enter}`);
    await chat.until(/Ask with 44 messages · 10\dk tokens, without the answer: \$0\.\d\d/);
    chat.terminal.type(KEY.enter);
    await chat.until(/> \/all and the fourth\?$/);
  });
});
