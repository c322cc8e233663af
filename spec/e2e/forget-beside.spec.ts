import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Entry, isMessage, type NewCompressBlock } from '../../lib/chat/entry.js';
import type { ChatEvent } from '../../lib/chat/event.js';
import { asTokens } from '../../lib/chat/request.js';
import { type Chat, chatDriver } from '../support/chat.js';
import { entriesAt, filesWith } from '../support/forgetting.js';
import { exchange, openIn, quickFolder } from '../support/history.js';
import { type Home, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { cases } from '../support/properties.js';
import { prose } from '../support/prose.js';
import { recallIn, searchFor } from '../support/recall.js';
import type { Reply, SentRequest } from '../support/scripted-server.js';
import { canTrace, straced } from '../support/strace.js';
import { control, KEY } from '../support/terminal.js';

const open = chatDriver();

const SECRET = 'zanthoxylum-4711';
/** The end of its word as the dictionary of an index may have it. */
const WORD = 'thoxylum';
const ANIMALS = ['heron', 'lynx', 'badger', 'marmot', 'osprey', 'walrus'];
const ORDERS = ['text', 'ids', 'since', 'last'] as const;
type Order = (typeof ORDERS)[number];

/** Where another process stands when something is forgotten: how it comes there, and how it goes on. */
interface Stand {
  readonly args?: readonly string[];
  /** Resolves when it stands there. What it returns lets it go on, and resolves when what it was doing is done. */
  come(chat: Chat, gate: Gate): Promise<() => Promise<unknown>>;
}

/** What a running turn waits for, at the server or in its tool. */
interface Gate {
  readonly isOpen: Promise<unknown>;
  open(): void;
}

function gateIn(home: () => Home): Gate {
  let open = (): void => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    isOpen,
    open() {
      home().write('go', '');
      open();
    },
  };
}

const ACK = /ACK \d+\.\s+hi( \d+%)?( off)?>/;

/** Types a line whose answer takes its time. */
const typed = async (chat: Chat, line: string): Promise<void> => chat.terminal.type(`${line}${KEY.enter}`);

async function untilThere(path: string): Promise<void> {
  while (!existsSync(path)) await delay(10);
}

async function untilAsked(chat: Chat, words: string): Promise<void> {
  while (!chat.server.requests.some((request) => JSON.stringify(request).includes(words))) await delay(10);
}

const said = (line: string): Stand => ({
  async come(chat) {
    await chat.say(line, /ACK|#\d+/);
    return async () => undefined;
  },
});

/** A line that is being answered. */
const during = (line: string, there: (chat: Chat) => Promise<void>, done: RegExp = ACK): Stand => ({
  async come(chat, gate) {
    await typed(chat, line);
    await there(chat);
    return () => {
      gate.open();
      return chat.until(done);
    };
  },
});

const STANDS: Readonly<Record<string, Stand>> = {
  idle: said('hello'),
  searched: said('/find vault'),
  recalled: said('search for it'),
  'a tool running': during('run the tool', (chat) => untilThere(join(chat.home.work, 'running'))),
  'an answer streaming': during('stream it', (chat) => chat.until('piece 1')),
  'a summary in flight': during(
    '/compact',
    (chat) => untilAsked(chat, '<conversation>'),
    /(compacted|forgot a part)[\s\S]*hi( \d+%)?>/,
  ),
  'off the record': {
    async come(chat) {
      await chat.say('/off', /^hi( \d+%)? off>/m);
      await chat.say('hello', ACK);
      return async () => undefined;
    },
  },
  'keeping nothing': { ...said('hello'), args: ['-n'] },
  'about to retry': {
    async come(chat) {
      await chat.say(`refuse ${SECRET}`, 'No.');
      return async () => {
        await typed(chat, '/retry');
        await chat.until(/\/retry[\s\S]*(ACK|No\.|no message to retry|Ask it again\?)/);
        if (chat.terminal.screen().includes('Ask it again?')) await chat.say('y', /Ask it again\?[\s\S]*ACK/);
        else await chat.prompt('/retry');
      };
    },
  },
  'waiting for a server': {
    async come(chat) {
      await typed(chat, 'slow down');
      await chat.until("(Esc: 'other' now)");
      return async () => {
        chat.terminal.type(KEY.escape);
        await chat.until(/ACK \d+\.[\s\S]*hi( \d+%)?>/);
      };
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
const OTHERS = ['an editor', 'sending what was queued', 'started a moment ago'] as const;

/** Waits for the gate. */
const TOOL = 'echo > running; until [ -e go ]; do sleep 0.02; done';

const textOf = ({ messages }: SentRequest): string => JSON.stringify(messages.at(-1)?.content);

async function answer(request: SentRequest, index: number, { isOpen }: Gate): Promise<Reply> {
  const last = textOf(request);
  const isAsked = request.messages.at(-1)?.role === 'user';
  const calls = (name: string, args: object): Reply => ({ calls: [{ name, args }] });
  if (JSON.stringify(request.messages).includes('<conversation>')) {
    await isOpen;
    const seen = JSON.stringify(request.messages).includes(SECRET) ? SECRET : 'nothing else';
    return { text: `=== SUMMARY ===\nThey named animals and ${seen}.\n` };
  }
  if (isAsked && last.includes('run the tool')) return calls('bash', { command: TOOL });
  if (isAsked && last.includes('ask me')) return calls('bash', { command: 'touch proof' });
  if (isAsked && last.includes('search for it')) return calls('recall', { query: 'vault' });
  if (last.includes('slow down') && request.model === 'scripted')
    return { status: 429, headers: { 'retry-after': '90' }, error: { message: 'Slow down' } };
  if (last.includes('stream it')) return { pieces: ['piece 1 ', `ACK ${index}.`], until: isOpen };
  if (last.includes('refuse')) return { status: 400, error: { message: 'No.' } };
  return { text: `ACK ${index}.` };
}

/**
 * How long the answers of the conversation are: in no index, in one of unsealed messages, in sealed pieces with theirs.
 */
const LENGTHS = [300, 8_000, 50_000];

const made = new Map<string, string>();

/**
 * A data folder with a conversation in which the secret is said at a place, and with the index of it; maybe there is a
 * summary of all.
 */
async function conversation(place: number, length: number, isCompacted: boolean): Promise<string> {
  const name = `${place} ${length} ${isCompacted}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const folder = quickFolder();
  let minutes = 0;
  const now = (): Date => new Date(Date.UTC(2026, 10, 1) + 60_000 * minutes++);
  const store = await openIn(folder, { now });
  for (let index = 0; index <= ANIMALS.length; index += 1) {
    if (index === place) await exchange(store, `the vault word is ${SECRET}`, 'Noted.');
    const animal = ANIMALS[index];
    if (animal !== undefined) await exchange(store, `the ${animal} is number ${index}.`, prose(length, index));
  }
  if (isCompacted) for await (const _ of store.compact(null, summary, 'keep'));
  const recall = recallIn(folder, store);
  await recall.catchUp(60_000);
  await recall.search(searchFor('heron'));
  recall.close();
  await store.close();
  made.set(name, folder);
  return folder;
}

async function* summary(entries: readonly Entry[]): AsyncGenerator<ChatEvent, NewCompressBlock> {
  yield { type: 'notice', level: 'info', text: 'Compacting.' };
  return {
    type: 'compress',
    content: `They named animals and ${SECRET}.`,
    strategy: 'replace',
    source: 'model',
    first_kept: null,
    messages_compacted: entries.length,
    messages_kept: 0,
    tokens_before: asTokens(1000),
    tokens_after: asTokens(10),
  };
}

/** The schedule of a number: what is not in its title is drawn by it. */
interface Schedule {
  readonly stand: string;
  readonly order: Order;
  readonly place: number;
  readonly length: number;
  readonly isCompacted: boolean;
  /** Whether the other process goes on while it is forgotten, and not only afterwards. */
  readonly isRace: boolean;
  /** What the first `hi forget` runs under: some are killed at a write. */
  readonly under: readonly string[];
  readonly animal: string;
}

const KILLED_AT = ['pwrite64', 'rename', 'unlink', 'fdatasync', 'fsync', 'ftruncate', 'write'];

function scheduleOf(stand: string, order: Order, seed: number): Schedule {
  const draw = drawing(seed);
  const place = order === 'last' ? ANIMALS.length : draw(ANIMALS.length);
  const at = KILLED_AT[draw(KILLED_AT.length)] ?? 'rename';
  const when = 1 + draw(6);
  return {
    stand,
    order,
    place,
    length: LENGTHS[draw(LENGTHS.length)] ?? 0,
    // Where all is in a summary there is nothing to compact.
    isCompacted: draw(4) === 0 && stand !== 'a summary in flight',
    isRace: draw(2) === 0,
    under: canTrace && draw(3) === 0 ? straced({ at, when, does: 'kill' }) : [],
    animal: ANIMALS[draw(ANIMALS.length)] ?? '',
  };
}

/** Numbers below a limit, by a seed. */
function drawing(seed: number): (limit: number) => number {
  let state = (seed + 1) * 2654435761;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 10) % limit;
  };
}

async function homeWithSecret({ place, length, isCompacted }: Schedule): Promise<{ chat: Chat; gate: Gate }> {
  const data = await conversation(place, length, isCompacted);
  const gate: Gate = gateIn(() => chat.home);
  const chat: Chat = await open((request, index) => answer(request, index, gate), {
    tools: { permissions: { allow: [`bash(${TOOL})`] } },
  });
  const {
    api_base,
    provider: _provider,
    model: _model,
    ...config
  } = JSON.parse(readFileSync(chat.home.configFile, 'utf8'));
  const servers = { first: { api_base, model: 'scripted' }, other: { api_base, model: 'other' } };
  chat.home.writeConfig(JSON.stringify({ ...config, servers, fallback: ['other'] }));
  cpSync(data, chat.home.data, { recursive: true });
  return { chat, gate };
}

const holders = (chat: Chat) =>
  entriesAt(chat.home.historyFile).filter((entry) => JSON.stringify(entry).includes(SECRET));

/** Forgets the secret, by the order, until no message has it; `false` if a turn that runs must end first. */
async function forget(chat: Chat, order: Order, under: readonly string[]): Promise<boolean> {
  const isKilled = under.length > 0;
  for (let tries = 0; tries < 9; tries += 1) {
    const found = holders(chat).filter(isMessage);
    const [first] = found;
    if (first === undefined) return true;
    const what: Readonly<Record<Order, readonly string[]>> = {
      text: [SECRET],
      ids: [found.map(({ id }) => `#${id}`).join(' ')],
      since: ['--since', first.at],
      last: ['--last'],
    };
    const options = isKilled && tries === 0 ? { under } : {};
    const { status, stderr } = await runProgram(chat.home, ['forget', '-y', ...what[order]], options);
    if (stderr.includes('is still running')) return false;
    if (status !== null) expect([status, stderr]).toEqual([0, stderr]);
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

/**
 * Lets another process stand there while the secret is forgotten, and go on. Resolves to the number of requests before
 * the forgetting was over.
 */
async function forgetBeside(chat: Chat, gate: Gate, schedule: Schedule): Promise<number> {
  const { order, under, isRace } = schedule;
  const go = await standAt(chat, gate, schedule);
  const going = isRace ? go.on() : null;
  const isDone = await forget(chat, order, under);
  let from = chat.server.requests.length;
  await (going ?? go.on());
  if (!isDone) {
    expect(await forget(chat, order, [])).toBe(true);
    from = chat.server.requests.length;
  }
  await go.end();
  return from;
}

/** Starts the other process: how it goes on, and what it does in the end. */
async function standAt(chat: Chat, gate: Gate, { stand, animal, isRace }: Schedule) {
  if (stand === 'an editor') {
    const { say, close } = await editor(chat);
    const asked = say(isRace ? 'stream it' : 'hello');
    if (!isRace) await asked;
    return {
      async on() {
        gate.open();
        await asked;
      },
      async end() {
        await say('and more');
        await close();
      },
    };
  }
  if (stand === 'sending what was queued') {
    await runProgram(chat.home, ['ask', '--later', isRace ? 'stream it' : `stream it: ${SECRET}`]);
    const asked = runProgram(chat.home, ['ask', '--pending']);
    await untilAsked(chat, 'stream it');
    const on = async (): Promise<void> => {
      gate.open();
      expect((await asked).status).toBe(0);
    };
    return { on, end: async () => undefined };
  }
  if (stand === 'started a moment ago') {
    const asked = runProgram(chat.home, ['ask', 'hello']);
    if (isRace) await delay(60 * ANIMALS.indexOf(animal));
    return { on: async () => expect((await asked).status).toBe(0), end: async () => undefined };
  }
  const { come, args = [] } = STANDS[stand] ?? said('hello');
  await chat.open({ args });
  const on = await come(chat, gate);
  const end = async (): Promise<void> => {
    await chat.say('and more', ACK);
    await chat.say('/find vault', "No message contains 'vault'");
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
  };
  return { on, end };
}

/** The animal that a message is about, and not what it repeats of another one. */
function animalOf(entry: Entry): string | null {
  const parts = isMessage(entry) ? entry.content : [];
  const own = parts.flatMap((part) => (part.type === 'text' && part.recalled === undefined ? [part.text] : []));
  return own.flatMap((text) => /^the (\w+) is number \d\.$/.exec(text)?.[1] ?? []).at(0) ?? null;
}

/** All, or as many as are tried: each stand, the orders in turn. */
function schedules(): readonly (readonly [stand: string, order: Order, seed: number])[] {
  const stands = [...Object.keys(STANDS), ...OTHERS];
  const first = Number(process.env.HI_FIRST_SCHEDULE ?? 0);
  const count = Number(process.env.HI_SCHEDULES ?? cases(stands.length));
  return Array.from({ length: count }, (_, index) => {
    const seed = first + index;
    const round = Math.floor(seed / stands.length);
    return [stands[seed % stands.length] ?? 'idle', ORDERS[(seed + round) % ORDERS.length] ?? 'text', seed] as const;
  });
}

describe('what is forgotten while another process is', () => {
  it.each(schedules())(
    '%s, by %s, is in no file and no later request, and all else is found (%i)',
    async (stand, order, seed) => {
      const schedule = scheduleOf(stand, order, seed);
      const { chat, gate } = await homeWithSecret(schedule);
      const from = await forgetBeside(chat, gate, schedule);
      const story = JSON.stringify(schedule);
      expect([story, ...filesWith(chat.home, SECRET), ...filesWith(chat.home, WORD)]).toEqual([story]);
      const later = chat.server.requests.slice(from).filter((request) => JSON.stringify(request).includes(SECRET));
      expect([story, ...later]).toEqual([story]);
      // A retry says one again.
      const left = new Map(entriesAt(chat.home.historyFile).map((entry) => [animalOf(entry), entry.id]));
      left.delete(null);
      expect([story, left.size]).toEqual([story, order === 'since' ? schedule.place : ANIMALS.length]);
      const { stdout } = await runProgram(chat.home, ['recall', schedule.animal, '-n', '1', '--json']);
      const ids = JSON.parse(stdout).map(({ id }: Entry) => id);
      expect([story, ...ids]).toEqual([story, left.get(schedule.animal)].filter((part) => part !== undefined));
    },
    60_000,
  );
});
