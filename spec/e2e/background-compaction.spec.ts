import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';
import type { SentRequest } from '../support/scripted-server.js';

const open = chatDriver();

/** A compaction is due at 3200 tokens, and nearly due at 2720. */
const CONFIG = { context_window: 16_000, max_input_tokens: 3200, clock: false, tools: { enabled: false } };

const isSummary = ({ messages }: SentRequest): boolean => JSON.stringify(messages).includes('<conversation>');

/** About 220 tokens, and with the answer 230. */
const talk = (turn: number, length = 87): string => `talk-${turn} ${'and so on '.repeat(length)}`;

/**
 * The server by a name elsewhere in the network, which only its proxy knows: one nearby may answer one request at a
 * time.
 */
const ELSEWHERE = 'http://models.example/v1';

/** A chat whose first summary is written no sooner than it may end. */
interface SlowChat extends Chat {
  endSummary(): void;
  /** What a program needs to reach the server. */
  readonly reach: { readonly env: Readonly<Record<string, string>> };
}

async function slowChat(compaction: object = {}, isNear = false): Promise<SlowChat> {
  let endSummary = (): void => {};
  const ended = new Promise<void>((resolve) => {
    endSummary = resolve;
  });
  let asked = 0;
  const chat = await open(
    async (request) => {
      if (!isSummary(request)) return { text: 'Well said.' };
      asked += 1;
      if (asked === 1) await ended;
      const keys = JSON.stringify(request.messages).match(/talk-\d+/g) ?? [];
      return { text: `=== SUMMARY ===\nSummary of ${[...new Set(keys)].join(' ')}.` };
    },
    { ...CONFIG, compaction, ...(!isNear && { api_base: ELSEWHERE }) },
  );
  const { open: opened } = chat;
  const reach = { env: isNear ? {} : { HTTP_PROXY: chat.server.base.replace(/\/v1$/, '') } };
  return Object.assign(chat, { endSummary, reach, open: async () => await opened(reach) });
}

/** Types a message and waits for its answer. */
async function ask(chat: Chat, text: string): Promise<void> {
  const before = answers(chat).length;
  await chat.say(text, () => answers(chat).length > before);
}

const summaries = (chat: Chat): readonly SentRequest[] => chat.server.requests.filter(isSummary);
const answers = (chat: Chat): readonly SentRequest[] => chat.server.requests.filter((request) => !isSummary(request));
const blocks = (chat: Chat) => chat.stored().filter(({ type }) => type === 'compress');
const sent = (chat: Chat): string => JSON.stringify(answers(chat).at(-1)?.messages);

/** So many turns come before a summary may be asked for. */
const EARLY = 10;

/** Talks until a summary is asked for. Resolves to the number of turns. */
async function talkUntilNearlyDue(chat: Chat): Promise<number> {
  let turn = 0;
  while (summaries(chat).length === 0 && turn < 20) {
    turn += 1;
    await ask(chat, talk(turn));
    if (turn > EARLY) await sleep(300);
  }
  expect(turn).toBeGreaterThan(EARLY);
  return turn;
}

describe('a compaction that will be due soon', () => {
  it('is written after an answer while the chat continues, and used when it is due', async () => {
    const chat = await slowChat();
    await chat.open();
    const turn = await talkUntilNearlyDue(chat);
    await ask(chat, talk(turn + 1));
    expect(sent(chat)).not.toContain('Summary of');
    expect(blocks(chat)).toHaveLength(0);
    chat.endSummary();
    await ask(chat, talk(turn + 2));
    await ask(chat, talk(turn + 3));
    expect(summaries(chat)).toHaveLength(1);
    expect(blocks(chat)).toHaveLength(1);
    expect(sent(chat)).toContain('Summary of talk-1 talk-2');
    for (let at = turn - 2; at <= turn + 3; at += 1) expect(sent(chat)).toContain(`"talk-${at} and`);
    expect(sent(chat)).not.toContain('"talk-1 and');
    const [block] = blocks(chat);
    const kept = chat.stored().filter((entry) => !('type' in entry) && Number(entry.id) >= Number(block?.first_kept));
    expect(kept.filter(({ id }) => Number(id) < Number(block?.id))).toHaveLength(Number(block?.messages_kept));
    expect(block).toMatchObject({ source: 'model' });
    expect(Number(block?.tokens_after)).toBeLessThan(Number(block?.tokens_before));
  });

  it('leaves each request a prefix of the next until it is used', async () => {
    const chat = await slowChat();
    await chat.open();
    const turns = (await talkUntilNearlyDue(chat)) + 1;
    await ask(chat, talk(turns));
    const texts = answers(chat).map(({ messages }) => JSON.stringify(messages).slice(0, -1));
    for (const [index, text] of texts.slice(1).entries()) expect(text.startsWith(texts[index] ?? '?')).toBe(true);
  });

  it('is waited for only when it is due, and not requested twice', async () => {
    const chat = await slowChat();
    await chat.open();
    const turn = await talkUntilNearlyDue(chat);
    const before = answers(chat).length;
    const asked = ask(chat, `${talk(turn + 1)} ${'more of it '.repeat(120)}`);
    await sleep(500);
    expect(answers(chat)).toHaveLength(before);
    chat.endSummary();
    await asked;
    expect(summaries(chat)).toHaveLength(1);
    expect(blocks(chat)).toHaveLength(1);
    expect(sent(chat)).toContain('Summary of talk-1');
  });

  it('makes way for a question at a server nearby, and is begun again after it', async () => {
    const chat = await slowChat({}, true);
    await chat.open();
    const turn = await talkUntilNearlyDue(chat);
    await ask(chat, 'a short one');
    expect(chat.server.abandoned()).toBe(1);
    expect(blocks(chat)).toEqual([]);
    for (let waited = 0; summaries(chat).length < 2 && waited < 100; waited += 1) await sleep(50);
    expect(summaries(chat)).toHaveLength(2);
    await ask(chat, talk(turn + 1, 400));
    expect(blocks(chat)).toHaveLength(1);
  });

  it('is discarded when a turn is undone', async () => {
    const chat = await slowChat();
    await chat.open();
    const turn = await talkUntilNearlyDue(chat);
    chat.terminal.type('/undo\r');
    await chat.until('Undone: #');
    chat.terminal.type('\x15'.repeat(12));
    await chat.until(() => chat.server.abandoned() === 1);
    for (let more = 1; more <= 4; more += 1) await ask(chat, talk(turn + more));
    expect(summaries(chat)).toHaveLength(2);
    expect(blocks(chat)).toHaveLength(1);
    expect(sent(chat)).not.toContain(`talk-${turn} `);
    expect(sent(chat)).toContain('Summary of talk-1');
  });

  it('costs nothing if it is off', async () => {
    const chat = await slowChat({ background: false });
    await chat.open();
    for (let turn = 1; turn <= 13; turn += 1) await ask(chat, talk(turn));
    await sleep(300);
    expect(summaries(chat)).toHaveLength(0);
  });

  it('is not started by hi ask', async () => {
    const chat = await slowChat();
    for (let turn = 1; turn <= 4; turn += 1) await runProgram(chat.home, ['ask', talk(turn, 283)], chat.reach);
    expect(summaries(chat)).toHaveLength(0);
  });

  it('ends with the chat and leaves nothing behind', async () => {
    const chat = await slowChat();
    await chat.open();
    await talkUntilNearlyDue(chat);
    chat.terminal.type('/quit\r');
    await chat.terminal.exit();
    await sleep(100);
    expect(chat.server.abandoned()).toBe(1);
    expect(blocks(chat)).toHaveLength(0);
    const cached = join(chat.home.env.HI_CACHE_DIR ?? '', 'compressions');
    expect(existsSync(cached) ? readdirSync(cached) : []).toEqual([]);
  });

  it('is discarded if another process compacts, so that there is one block', async () => {
    const chat = await slowChat();
    await chat.open();
    const turn = await talkUntilNearlyDue(chat);
    await runProgram(chat.home, ['compact'], chat.reach);
    expect(blocks(chat)).toHaveLength(1);
    chat.endSummary();
    for (let more = 1; more <= 3; more += 1) await ask(chat, talk(turn + more));
    expect(blocks(chat)).toHaveLength(1);
    expect(sent(chat).match(/Summary of/g)).toHaveLength(1);
  });
});
