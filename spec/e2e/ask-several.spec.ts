import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isJsonObject } from '../../lib/chat/json.js';
import { chatDriver } from '../support/chat.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { KEY } from '../support/terminal.js';

let server: ScriptedServer | null = null;
let home: Home | null = null;
afterEach(async () => {
  await server?.close();
  home?.remove();
  [server, home] = [null, null];
});

/** A server whose model `slow` answers last, and whose model `broken` does not. */
const answerOf = async ({ model }: { readonly model: string }) => {
  if (model === 'slow') await wait(150);
  if (model === 'never') await wait(60_000, null, { ref: false });
  if (model === 'broken') return { status: 400, error: { message: 'It is broken.' } };
  return { text: `I am ${model}` };
};

const serversOf = (base: string) => ({
  a: { api_base: base, model: 'slow' },
  b: { api_base: base, model: 'quick' },
  c: { api_base: base, model: 'broken' },
});

async function start() {
  server = await startScriptedServer(answerOf);
  home = makeHome({ servers: serversOf(server.base), recall: { auto: false } });
  return { server, home };
}

const history = async (of: Home) => {
  const { stdout } = await runProgram(of, ['history', '--json']);
  const entries: unknown = JSON.parse(stdout);
  return Array.isArray(entries) ? entries.filter(isJsonObject) : [];
};

describe('one question to several models', () => {
  it('prints the answers as they arrive, and keeps the first that was named, the others in the archive', async () => {
    const { server: asked, home: own } = await start();
    const { stdout, stderr, status } = await runProgram(own, ['ask', '-m', 'a', '-m', 'b', '-m', 'c', 'Who are you?']);
    expect(status).toBe(0);
    expect(stdout).toBe('── b (openai/quick) · free\nI am quick\n── a (openai/slow) · free\nI am slow\n');
    expect(stderr).toMatch(/^c: .*It is broken/m);
    expect(stderr).toContain('Kept: a.');
    await runProgram(own, ['ask', '-m', 'b', 'And now?']);
    const sent = JSON.stringify(asked.requests.at(-1)?.messages);
    expect([sent.includes('I am slow'), sent.includes('I am quick')]).toEqual([true, false]);
    expect(JSON.stringify(await history(own))).toContain('I am quick');
  });

  it('tells scripts all of them with tokens and cost, and which is kept', async () => {
    const { home: own } = await start();
    const { stdout } = await runProgram(own, ['ask', '--json', '-m', 'b', '-m', 'c', 'Who?']);
    expect(JSON.parse(stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'b', provider: 'openai', model: 'quick', text: 'I am quick', kept: true }),
        expect.objectContaining({ name: 'c', kept: false, error: expect.objectContaining({ code: 'request' }) }),
      ]),
    );
  });

  it('prints each as a line when it arrives, and all of them in the last', async () => {
    const { home: own } = await start();
    const { stdout } = await runProgram(own, ['ask', '-o', 'stream-json', '-m', 'a', '-m', 'b', 'Who?']);
    const [first, ...rest] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({ type: 'reply', name: 'b', text: 'I am quick' });
    expect(rest).toMatchObject([
      { type: 'reply', name: 'a', text: 'I am slow' },
      {
        type: 'result',
        replies: [
          { name: 'b', kept: false },
          { name: 'a', kept: true },
        ],
      },
    ]);
  });

  it('keeps nothing if none answers', async () => {
    const { home: own } = await start();
    expect((await runProgram(own, ['ask', '-m', 'c', '-m', 'c/broken', 'Who?'])).status).toBe(5);
    expect(await history(own)).toEqual([]);
  });
});

describe('/ask', () => {
  const driver = chatDriver();

  it('lets the user choose the answer that is kept', async () => {
    const chat = await driver(answerOf, { recall: { auto: false } });
    await chat.open();
    chat.terminal.type(`/ask slow quick -- Who are you?${KEY.enter}`);
    await chat.until(/Which answer is kept\?/);
    await wait(450);
    chat.terminal.type(KEY.enter);
    await chat.until(/Kept: quick\. The others are in \/history\./);
    await chat.say('And now?', 'I am scripted');
    expect(JSON.stringify(chat.sent())).toContain('I am quick');
    expect(JSON.stringify(chat.sent())).not.toContain('I am slow');
  });

  it('keeps what was answered before Esc', async () => {
    const chat = await driver(answerOf, { recall: { auto: false } });
    await chat.open();
    chat.terminal.type(`/ask never quick -- Who are you?${KEY.enter}`);
    await chat.until(/I am quick[\s\S]*the other answers/);
    chat.terminal.type('\x1b');
    await chat.until(/Kept: quick\.[\s\S]*hi> *$/);
    await chat.say('And now?', 'I am scripted');
    expect(JSON.stringify(chat.sent())).toContain('I am quick');
  });
});
