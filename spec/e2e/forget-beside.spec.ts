import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { entriesAt, filesWith } from '../support/forgetting.js';
import { exchange, openIn } from '../support/history.js';
import { PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { cases } from '../support/properties.js';
import { prose } from '../support/prose.js';
import type { Reply, SentRequest } from '../support/scripted-server.js';
import { canTrace, straced } from '../support/strace.js';
import { control, KEY } from '../support/terminal.js';

const open = chatDriver();

const SECRET = 'zanthoxylum-4711';
const ANIMALS = ['heron', 'lynx', 'badger', 'marmot', 'osprey', 'walrus'];
const ORDERS = ['text', 'ids', 'since', 'last'] as const;
type Order = (typeof ORDERS)[number];

/** Where another process stands when something is forgotten: how it comes there, and how it goes on. */
interface Stand {
  readonly args?: readonly string[];
  /** Resolves when it stands there. What it returns is done once all is forgotten. */
  come(chat: Chat): Promise<() => Promise<unknown>>;
}

const ACK = /ACK \d+\.\s+hi( off)?>/;

/** Types a line whose answer takes its time. */
const typed = async (chat: Chat, line: string): Promise<void> => chat.terminal.type(`${line}${KEY.enter}`);

async function untilThere(path: string): Promise<void> {
  while (!existsSync(path)) await delay(20);
}

async function untilAsked(chat: Chat, words: string): Promise<void> {
  while (!chat.server.requests.some((request) => JSON.stringify(request).includes(words))) await delay(20);
}

const said = (line: string): Stand => ({
  async come(chat) {
    await chat.say(line, /ACK|#\d+/);
    return async () => undefined;
  },
});

/** A line that is being answered. */
const during = (line: string, there: (chat: Chat) => Promise<void>): Stand => ({
  async come(chat) {
    await typed(chat, line);
    await there(chat);
    return () => chat.until(ACK);
  },
});

const STANDS: Readonly<Record<string, Stand>> = {
  idle: said('hello'),
  searched: said('/find vault'),
  recalled: said('search for the vault'),
  'a tool running': during('run the tool', (chat) => untilThere(join(chat.home.work, 'running'))),
  'an answer streaming': during('stream it', (chat) => chat.until('piece 1')),
  'a summary in flight': {
    async come(chat) {
      await typed(chat, '/compact');
      await untilAsked(chat, '<conversation>');
      return () => chat.until(/(compacted|forgot a part)[\s\S]*hi>/);
    },
  },
  'off the record': {
    async come(chat) {
      await chat.say('/off', 'hi off>');
      await chat.say('hello', ACK);
      return async () => undefined;
    },
  },
  'keeping nothing': { ...said('hello'), args: ['-n'] },
  'about to retry': {
    async come(chat) {
      await chat.say(`refuse ${SECRET}`, 'No.');
      return () => chat.say('/retry', /ACK|no message to retry/);
    },
  },
  'paused at a question': {
    async come(chat) {
      await typed(chat, 'ask me');
      await chat.until(/Run this command\?[\s\S]*❯ yes, once/);
      return async () => {
        chat.terminal.type(KEY.enter);
        await chat.until(ACK);
      };
    },
  },
};

/** Those that are no chat in a terminal. */
const OTHERS = ['an editor', 'started a moment ago'] as const;

const textOf = ({ messages }: SentRequest): string => JSON.stringify(messages.at(-1)?.content);

async function answer(request: SentRequest, index: number): Promise<Reply> {
  const last = textOf(request);
  const isAsked = request.messages.at(-1)?.role === 'user';
  const calls = (name: string, args: object): Reply => ({ calls: [{ name, args }] });
  if (JSON.stringify(request.messages).includes('<conversation>')) {
    await delay(1500);
    return { text: `=== SUMMARY ===\nThey named animals and ${SECRET}.\n` };
  }
  if (isAsked && last.includes('run the tool')) return calls('bash', { command: 'echo > running; sleep 1.5' });
  if (isAsked && last.includes('ask me')) return calls('bash', { command: 'touch proof' });
  if (isAsked && last.includes('search for the vault')) return calls('recall', { query: 'vault' });
  if (last.includes('stream it')) return { pieces: ['piece 1 ', 'piece 2 ', 'piece 3 ', `ACK ${index}.`], delay: 600 };
  if (last.includes('refuse')) return { status: 400, error: { message: 'No.' } };
  return { text: `ACK ${index}.` };
}

/** A home with a conversation in which a secret was said, last of all or somewhere. */
async function homeWithSecret(order: Order, seed: number): Promise<Chat> {
  const chat = await open(answer, { tools: { permissions: { allow: ['bash(echo > running; sleep 1.5)'] } } });
  const store = await openIn(chat.home.data);
  const place = order === 'last' ? ANIMALS.length : seed % ANIMALS.length;
  for (let index = 0; index <= ANIMALS.length; index += 1) {
    if (index === place) await exchange(store, `the vault word is ${SECRET}`, 'Noted.');
    const animal = ANIMALS[index];
    if (animal !== undefined) await exchange(store, `the ${animal} is number ${index}. ${prose(300, index)}`, 'Noted.');
  }
  await store.close();
  return chat;
}

const holders = (chat: Chat) =>
  entriesAt(chat.home.historyFile).filter((entry) => JSON.stringify(entry).includes(SECRET));

/** Forgets the secret, by the order, until no message has it; `false` if a turn that runs must end first. */
async function forget(chat: Chat, order: Order, under: readonly string[]): Promise<boolean> {
  for (let tries = 0; tries < 9; tries += 1) {
    const found = holders(chat);
    const [first] = found;
    if (first === undefined && tries > 0) return true;
    const what: Readonly<Record<Order, readonly string[]>> = {
      text: [SECRET],
      ids: [found.map(({ id }) => `#${id}`).join(' ')],
      since: ['--since', first?.at ?? ''],
      last: ['--last'],
    };
    if (tries === 0 && under.length > 0) await runProgram(chat.home, ['forget', '-y', ...what[order]], { under });
    if (tries > 0 || holders(chat).length > 0) {
      const { status, stderr } = await runProgram(chat.home, ['forget', '-y', ...what[order]]);
      if (stderr.includes('is still running')) return false;
      expect([status, stderr]).toEqual([0, stderr]);
    }
  }
  throw new Error('The secret is still there.');
}

/** The editor: a program that gets JSON-RPC in lines. */
async function editor(chat: Chat) {
  const child = spawn(RUNTIME, [PROGRAM, 'acp'], { cwd: chat.home.work, env: chat.home.env, stdio: 'pipe' });
  let out = '';
  child.stdout.on('data', (bytes) => {
    out += bytes;
  });
  let id = 0;
  const call = async (method: string, params: object): Promise<string> => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const own = new RegExp(`^.*"id":${id}\\b.*$`, 'm');
    while (!own.test(out)) await delay(20);
    return own.exec(out)?.[0] ?? '';
  };
  await call('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const session = await call('session/new', { cwd: chat.home.work, mcpServers: [] });
  const { sessionId } = JSON.parse(session).result;
  const say = (text: string) => call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  const close = async (): Promise<void> => {
    child.stdin.end();
    await once(child, 'exit');
  };
  return { say, close };
}

/** Lets another process stand there while the secret is forgotten, and go on. Resolves to the number of requests before the forgetting was over. */
async function forgetBeside(chat: Chat, stand: string, order: Order, under: readonly string[]): Promise<number> {
  if (stand === 'an editor') {
    const { say, close } = await editor(chat);
    await say('hello');
    await forget(chat, order, under);
    const from = chat.server.requests.length;
    await say('and more');
    await close();
    return from;
  }
  if (stand === 'started a moment ago') {
    const asked = runProgram(chat.home, ['ask', 'hello']);
    const isDone = await forget(chat, order, under);
    expect((await asked).status).toBe(0);
    if (!isDone) await forget(chat, order, []);
    return chat.server.requests.length;
  }
  const { come, args = [] } = STANDS[stand] ?? said('hello');
  await chat.open({ args });
  const goOn = await come(chat);
  const isDone = await forget(chat, order, under);
  const asked = chat.server.requests.length;
  await goOn();
  if (!isDone) expect(await forget(chat, order, [])).toBe(true);
  const from = isDone ? asked : chat.server.requests.length;
  await chat.say('and more', ACK);
  await chat.say('/find vault', /hi( off)?>/);
  chat.terminal.type(control('d'));
  await chat.terminal.exit();
  return from;
}

/** A kill at one of the first writes, renames and removals, in every fourth case. */
function killAt(seed: number): readonly string[] {
  if (!canTrace || seed % 4 !== 3) return [];
  const at = ['pwrite64', 'rename', 'unlink'][seed % 3] ?? 'rename';
  return straced({ at, when: 1 + (Math.floor(seed / 4) % 4), does: 'kill' });
}

/** All, or as many as are tried: each stand, the orders in turn. */
function schedules(): readonly (readonly [stand: string, order: Order, seed: number])[] {
  const stands = [...Object.keys(STANDS), ...OTHERS];
  const count = Number(process.env.HI_SCHEDULES ?? cases(stands.length));
  return Array.from({ length: count }, (_, seed) => {
    const round = Math.floor(seed / stands.length);
    return [stands[seed % stands.length] ?? 'idle', ORDERS[(seed + round) % ORDERS.length] ?? 'text', seed] as const;
  });
}

describe('what is forgotten while another process is', () => {
  it.each(schedules())(
    '%s, by %s, is in no file and no later request, and all else is found (%i)',
    async (stand, order, seed) => {
      const chat = await homeWithSecret(order, seed);
      const from = await forgetBeside(chat, stand, order, killAt(seed));
      expect(filesWith(chat.home, SECRET)).toEqual([]);
      const later = chat.server.requests.slice(from).filter((request) => JSON.stringify(request).includes(SECRET));
      expect(later).toEqual([]);
      const left = entriesAt(chat.home.historyFile).filter((entry) => JSON.stringify(entry).includes('is number'));
      for (const entry of left.slice(0, 3)) {
        const [animal] = ANIMALS.filter((one) => JSON.stringify(entry).includes(`the ${one} is number`));
        const { stdout } = await runProgram(chat.home, ['recall', `${animal}`, '-n', '1', '--json']);
        expect(JSON.parse(stdout)).toMatchObject([{ id: entry.id }]);
      }
    },
    60_000,
  );
});
