import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';

let home: Home;
let terminal: Terminal | undefined;
let server: ScriptedServer | undefined;
let loading: Server | undefined;
let beating: NodeJS.Timeout | undefined;

const lock = (): string => `${home.data}/history.lock.elsewhere.12.34`;

/** Another machine takes the lock of the history and keeps it. */
function hold(): void {
  const beat = (): void => writeFileSync(lock(), '.', { flag: 'a' });
  beat();
  beating = setInterval(beat, 500);
}

function release(): void {
  clearInterval(beating);
  rmSync(lock(), { force: true });
}

afterEach(async () => {
  clearInterval(beating);
  await terminal?.close();
  await server?.close();
  loading?.closeAllConnections();
  loading?.close();
  terminal = server = loading = undefined;
  home?.remove();
});

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Terminal {
  terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env: { ...home.env, ...env }, cwd: home.work });
  return terminal;
}

/** A home whose server answers at once, with these settings. */
async function withServer(settings: object): Promise<void> {
  server = await startScriptedServer(() => ({ text: 'Here it is.' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...settings });
}

/** A llama.cpp that is loading its model until it is told that it has. */
async function loadingServer(): Promise<{ readonly base: string; load(): void }> {
  let isLoaded = false;
  const said = { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } };
  const chunk = { choices: [{ index: 0, delta: { content: 'Loaded and well.' }, finish_reason: 'stop' }] };
  loading = createServer((request, response) => {
    request.resume();
    if (!isLoaded) response.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    else if (request.method === 'GET') response.end(JSON.stringify({ object: 'list', data: [{ id: 'large' }] }));
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    }
  });
  await new Promise<void>((done) => loading?.listen(0, '127.0.0.1', done));
  const { port } = loading.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}/v1`,
    load() {
      isLoaded = true;
    },
  };
}

const SLOW_KEY = '!sleep 1.5; echo sk-1';
const FOR_THE_KEY = /waiting since \d\d:\d\d:\d\d for the key command 'sleep 1.5; echo sk-1'/;

describe('the waiting line says for what and since when', () => {
  it('hi waits for a command that prints the key, in hi ask and hi chat', async () => {
    await withServer({ api_key: SLOW_KEY });
    const asked = start(['ask', 'hello']);
    await asked.until(FOR_THE_KEY);
    await asked.exit();
    expect(asked.screen().trim()).toBe('Here it is.');
    const quiet = start(['ask', '-q', 'hello'], { ACCESSIBLE: '1' });
    await quiet.exit();
    expect(quiet.screen().trim()).toBe('Here it is.');
    const chat = start(['chat']);
    await chat.until(/^hi> *$/m);
    chat.type(`hello${KEY.enter}`);
    await chat.until(FOR_THE_KEY);
    await chat.until(/hello\n+Here it is\.\n+hi> *$/);
  });

  it('hi waits for the lock of another machine, which it may hold', async () => {
    await withServer({});
    mkdirSync(home.data, { recursive: true });
    writeFileSync(`${home.data}/history.lock.elsewhere.12.34`, '');
    const asked = start(['ask', 'hello']);
    await asked.until(/waiting for hi on another machine, which holds the lock · \ds/);
    asked.type(control('c'));
    expect((await asked.exit()).status).toBe(130);
    const plain = start(['ask', 'hello'], { ACCESSIBLE: '1' });
    await plain.until(/^waiting for hi on another machine, which holds the lock · 1s\n/m);
    expect(plain.written()).not.toContain('\r\x1b[K');
  });

  it('Ctrl-C ends the wait for a lock that nobody gives back, and the line is in the prompt again', async () => {
    await withServer({});
    mkdirSync(home.data, { recursive: true });
    hold();
    const chat = start(['chat']);
    await chat.until(/^hi> *$/m);
    chat.type(`hello${KEY.enter}`);
    await chat.until('waiting for hi on another machine');
    chat.type(control('c'));
    await chat.until(/\(interrupted\)\n+hi> hello$/);
    release();
    chat.type(` again${KEY.enter}`);
    await chat.until(/Here it is\.\n+hi> *$/);
    expect(server?.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(['hello again']);
  });

  it('an answer that waits for a lock is kept when the user leaves, and is there at the next start', async () => {
    server = await startScriptedServer(({ messages }) => {
      if (String(messages.at(-1)?.content) === 'the end') return { text: 'Fine.' };
      hold();
      return { text: 'Nobody else knows.' };
    });
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, clock: false });
    const chat = start(['chat']);
    await chat.until(/^hi> *$/m);
    chat.type(`first${KEY.enter}`);
    await chat.until(/waiting for hi on another machine, which holds the lock · \ds$/);
    chat.type(control('c').repeat(3));
    expect((await chat.exit()).status).toBe(130);
    const status = start(['status']);
    await status.exit();
    expect(status.screen()).not.toContain('cut short');
    release();
    const asked = start(['ask', 'second']);
    await asked.until(/The answer to “first” was added/);
    await asked.until(/waiting for hi on another machine, which holds the lock · \ds$/);
    asked.type(control('c'));
    await wait(300);
    asked.type(control('c'));
    expect((await asked.exit()).status).toBe(130);
    expect(asked.screen()).not.toContain('waiting');
    release();
    await start(['ask', 'the end']).exit();
    expect(server.requests.at(-1)?.messages.map(({ content }) => content)).toEqual([
      'first',
      'Nobody else knows.',
      'second',
      'Nobody else knows.',
      'the end',
    ]);
    expect(readdirSync(home.data).filter((name) => name.includes('conflict'))).toEqual([]);
  });

  it('Ctrl-C ends that wait of a command too, which has done nothing, and of the output of a !command', async () => {
    await withServer({});
    const chat = start(['chat']);
    await chat.until(/^hi> *$/m);
    chat.type(`hello${KEY.enter}`);
    await chat.until(/Here it is\.\n+hi> *$/);
    hold();
    for (const line of ['/undo', '/pin', '!echo said']) {
      chat.type(`${line}${KEY.enter}`);
      await chat.until(/waiting for hi on another machine, which holds the lock · \ds$/);
      chat.type(control('c'));
      await chat.until(
        line.startsWith('/') ? new RegExp(`\\(interrupted\\)\n+hi> ${line}$`) : /\(interrupted\)\n+hi> *$/,
      );
      chat.type(control('c'));
      await chat.until(/hi> *$/);
    }
    expect(chat.screen()).toContain('Nothing was added: another hi holds the lock.');
    release();
    chat.type(`/status${KEY.enter}`);
    await chat.until(/messages +2 kept/);
  });

  it.each([
    ['the list of its models', ['ask', 'hello'], /waiting for the server to load its model · \ds/],
    ['the answer', ['-m', 'large', 'ask', 'hello'], /waiting for the server to load large · \ds/],
  ])('a server loads its model before %s', async (_, args, line) => {
    home = makeHome(null);
    const { base, load } = await loadingServer();
    const asked = start(args, { OPENAI_BASE_URL: base });
    await asked.until(line);
    load();
    expect((await asked.exit()).status).toBe(0);
    expect(asked.screen().trim()).toBe('Loaded and well.');
  });
});
