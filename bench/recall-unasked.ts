import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '../lib/chat/message.js';
import { monotonic } from '../lib/clock.js';
import { askedIn, mayAsk } from '../lib/recall/asked.js';
import { Recall } from '../lib/recall/recall.js';
import { around, type Id, renamed, type Talk } from './recall-talks.js';
import type { Row } from './row.js';

/** Returns the places of the messages that automatic recall adds to a message. */
type Remind = (asked: string) => Promise<readonly number[]>;

/** Automatic recall as in a chat, each talk with a threshold calibrated on that talk. */
export async function unaskedRows(talks: readonly Talk[]): Promise<readonly Row[]> {
  const reminders = await Promise.all(talks.map(reminderOf));
  const [answerable, foreign, small]: [{ readonly fired: boolean; readonly isRight: boolean }[], boolean[], boolean[]] =
    [[], [], []];
  for (const [index, talk] of talks.entries()) {
    const next = (index + 1) % talks.length;
    const [own, other, third] = [index, next, (index + 2) % talks.length].map((at) => reminders[at]);
    const otherTalk = talks[next];
    if (own === undefined || other === undefined || third === undefined || otherTalk === undefined) continue;
    for (const { q, gold } of talk.questions.filter(({ gold: wanted }) => wanted.length > 0)) {
      const documents = await own(q);
      const shown: readonly Id[] = documents.flatMap((document) => around(talk, document));
      answerable.push({ fired: documents.length > 0, isRight: gold.some((id) => shown.includes(id)) });
      foreign.push((await other(renamed(q, talk, otherTalk))).length > 0);
    }
    for (const { text } of talk.messages.filter((_, place) => place % 4 === 0))
      small.push((await third(text)).length > 0);
  }
  const fired = answerable.filter((one) => one.fired);
  const share = (list: readonly boolean[]): number =>
    Math.round((1000 * list.filter(Boolean).length) / list.length) / 10;
  return [
    {
      what: 'automatic recall: where there is an answer',
      value: share(answerable.map((one) => one.fired)),
      unit: '%',
      least: 50,
    },
    { what: 'the same: right', value: share(fired.map(({ isRight }) => isRight)), unit: '%', least: 85 },
    { what: 'the same: at questions about others', value: share(foreign), unit: '%', limit: 5 },
    { what: 'the same: at small talk', value: share(small), unit: '%', limit: 10 },
  ];
}

async function reminderOf({ messages }: Talk): Promise<Remind> {
  let turn = 1;
  const entries = messages.map(({ role, at, name, text }, index): Message => {
    const id = index + 1;
    if (role === 'user') turn = id;
    const said = `${name}: ${text}`;
    const common = {
      id,
      turn,
      at: at ?? '2026-01-01T00:00:00Z',
      cwd: '/',
      content: [{ type: 'text', text: said }],
    } as const;
    return role === 'user' ? { ...common, role } : { ...common, role: 'assistant', stop_reason: 'end' };
  });
  const archive = {
    log: 'talk',
    pieces: [],
    read: () => [],
    json: () => Buffer.alloc(0),
    readAt(): never {
      throw new Error('There are no pieces.');
    },
    readFrom: () => [],
    restVersion: '1',
    rest: () => entries,
    close() {},
  };
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-recall-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const recall = new Recall({ folder, open: async () => archive, writes: true });
  await recall.calibrate(600_000);
  const known = { isSeen: () => false, isSaid: () => false };
  return async (message) => {
    const asked = askedIn(message);
    if (!mayAsk(asked)) return [];
    const reminded = await recall.remind(asked, known, monotonic() + 60_000);
    if (typeof reminded === 'string') throw new Error(`Automatic recall is ${reminded}.`);
    return reminded.reminders.map(({ message: { id } }) => id - 1);
  };
}
