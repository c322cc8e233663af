import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import type { SentRequest } from '../support/scripted-server.js';
import { KEY, type Terminal } from '../support/terminal.js';

const open = chatDriver();

/**
 * A short life with a summariser that takes as long as six turns; HI_LIFE_TURNS=200 and HI_SLOW=20000 is a long one
 * with a slow one.
 */
const TURNS = Number(process.env.HI_LIFE_TURNS ?? 26);
const SLOW = Number(process.env.HI_SLOW ?? 1500);
const PACE = SLOW / 6;

/** A compaction is due at 3200 tokens, and nearly due at 2720: some eight turns before. */
const CONFIG = { context_window: 16_000, max_input_tokens: 3200, clock: false, tools: { enabled: false } };

const isSummary = ({ messages }: SentRequest): boolean => JSON.stringify(messages).includes('<conversation>');
const talk = (turn: number, length = 19): string => `talk-${turn} ${'and so on '.repeat(length)}`;

const answers = (chat: Chat): readonly SentRequest[] => chat.server.requests.filter((request) => !isSummary(request));
const blocks = (chat: Chat) => chat.stored().filter(({ type }) => type === 'compress');
const textOf = ({ messages }: SentRequest): string => JSON.stringify(messages).slice(0, -1);

/** At a server elsewhere, which only its proxy knows: one nearby is asked for a summary only between questions. */
async function slowChat(): Promise<Chat> {
  const chat = await open(
    (request) =>
      isSummary(request) ? { text: '=== SUMMARY ===\nThey talked [#1].', delay: SLOW } : { text: 'Well said.' },
    { ...CONFIG, api_base: 'http://models.example/v1' },
  );
  const { open: opened } = chat;
  const env = { HTTP_PROXY: chat.server.base.replace(/\/v1$/, '') };
  return Object.assign(chat, { open: async () => await opened({ env }) });
}

async function say(chat: Chat, text: string): Promise<void> {
  const before = answers(chat).length;
  await chat.say(text, () => answers(chat).length > before);
}

/** Types a line into one of two chats and waits for its answer. */
async function sayIn(terminal: Terminal, text: string): Promise<void> {
  const mark = text.split(' ')[0] ?? '';
  terminal.type(`${text}${KEY.enter}`);
  await terminal.until((screen) => screen.slice(screen.lastIndexOf(mark)).includes('Well said.'), 20_000);
}

describe('a compaction that is written in the background', () => {
  it(`is never waited for in ${TURNS} turns, and each request is a prefix of the next until it is used`, async () => {
    const chat = await slowChat();
    await chat.open();
    const waited: string[] = [];
    const broken: number[] = [];
    let before = { text: '', blocks: 0 };
    // Most of the way there at once.
    for (let turn = 1; turn <= 10; turn += 1) await say(chat, talk(1000 + turn, 100));
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const began = Date.now();
      await say(chat, talk(turn));
      if (Date.now() - began > 0.8 * SLOW) waited.push(`${turn}: ${Date.now() - began} ms`);
      const text = textOf(answers(chat).at(-1) ?? { model: '', messages: [] });
      const now = { text, blocks: blocks(chat).length };
      if (now.blocks === before.blocks && !text.startsWith(before.text)) broken.push(turn);
      before = now;
      await sleep(PACE);
    }
    expect({ waited, broken }).toEqual({ waited: [], broken: [] });
    expect(before.blocks).toBeGreaterThanOrEqual(Math.max(1, Math.floor(TURNS / 60)));
    expect(chat.server.requests.filter(isSummary).length - before.blocks).toBeLessThanOrEqual(1);
    expect(chat.server.abandoned()).toBe(0);
  }, 3_600_000);

  it('makes one block if two chats write it at once', async () => {
    const chat = await slowChat();
    await chat.open();
    const first = chat.terminal;
    await chat.open();
    const second = chat.terminal;
    let turn = 0;
    while (chat.server.requests.filter(isSummary).length < 2 && turn < 70) {
      turn += 1;
      await sayIn(turn % 2 === 0 ? first : second, talk(turn));
    }
    expect(chat.server.requests.filter(isSummary)).toHaveLength(2);
    await sleep(SLOW);
    while (blocks(chat).length === 0 && turn < 90) {
      turn += 1;
      await Promise.all([sayIn(first, talk(100 + turn)), sayIn(second, talk(200 + turn))]);
    }
    await sayIn(first, talk(301));
    await sayIn(second, talk(302));
    expect(blocks(chat)).toHaveLength(1);
    const last = JSON.stringify(answers(chat).at(-1)?.messages);
    expect(last.match(/They talked/g)).toHaveLength(1);
    for (const said of [100 + turn, 200 + turn]) expect(last).toContain(`talk-${said} `);
  }, 600_000);
});
