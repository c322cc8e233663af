import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPart, recalledIn } from '../../lib/chat/message.js';
import type { ChatRequest } from '../../lib/chat/request.js';
import { Recall } from '../../lib/recall/recall.js';
import { type Known, tokenBound } from '../../lib/recall/recall-unasked.js';
import { monotonic } from '../../lib/waits.js';
import { exchange, quickFolder } from '../support/history.js';
import { prose } from '../support/prose.js';
import { RARE } from '../support/recall.js';
import { answer, drain, type Stage, stage } from '../support/session.js';

const PATIENCE = 60_000;

const TOKENS = 600;

/** How many turns there are on a few topics. */
const TURNS = Number(process.env.HI_RECALL_TURNS ?? 60);

/** Searches as long as it takes: the machine may be busy. */
class PatientRecall extends Recall {
  override remind(asked: string, known: Known, tokens: number, end: number): ReturnType<Recall['remind']> {
    return super.remind(asked, known, tokens, end + PATIENCE);
  }
}

let set: Stage;
let recall: Recall;

beforeEach(async () => {
  const folder = join(quickFolder(), 'recall');
  set = await stage([answer('Fine.')], { search: { auto: true, tokens: TOKENS, finder: async () => recall } });
  recall = new PatientRecall({ folder, history: set.history, writes: true });
  for (let turn = 0; turn < 220; turn += 1) {
    const rare = turn % 28 === 0 ? ` The ${RARE[turn / 28]} costs ${turn} florins. ` : '';
    await exchange(set.history, `Thought ${turn}:${rare} ${prose(80, turn)}`, `Well. ${prose(80, turn + 1000)}`);
  }
  await drain(set.session.compact({ strategy: null, focus: null }, new AbortController().signal));
  expect(await recall.calibrate(60_000)).toBe(true);
});

afterEach(async () => {
  recall.close();
  await set.close();
});

const say = async (text: string) =>
  await drain(set.session.send({ text, texts: [], attachments: [] }, new AbortController().signal));

const idsIn = ({ messages }: ChatRequest): readonly number[] => messages.flatMap(({ content }) => recalledIn(content));

describe('messages recalled automatically', () => {
  it('leave each request a byte prefix of the next, are not recalled twice while in view, and never include recalled text', async () => {
    const [first = '', second = ''] = RARE;
    await say(`How many florins for the ${first} and the ${second}?`);
    const topics = fc.sample(fc.array(fc.constantFrom(...RARE), { minLength: 1, maxLength: 3 }), TURNS);
    for (const [index, topic] of topics.entries())
      await say(`${index}: how many florins does the ${topic.join(' or the ')} cost?`);
    const { requests } = set;
    expect(requests).toHaveLength(TURNS + 1);
    for (const [index, { system, messages }] of requests.slice(1).entries()) {
      const before = requests[index];
      expect(JSON.stringify({ system, messages: messages.slice(0, before?.messages.length) })).toBe(
        JSON.stringify({ system: before?.system, messages: before?.messages }),
      );
    }
    const last = requests.at(-1);
    const ids = last === undefined ? [] : idsIn(last);
    expect(ids.length).toBeGreaterThan(2);
    expect(new Set(ids).size).toBe(ids.length);
    for (const part of last?.messages.flatMap(({ content }) => content).filter(isPart('text')) ?? []) {
      if (part.recalled === undefined) continue;
      expect(tokenBound(part.text)).toBeLessThanOrEqual(TOKENS);
      expect(part.text.match(/recalled/g)).toHaveLength(2);
    }
  }, 600_000);

  it('are left out of what /undo returns and of what is sent again', async () => {
    const [first = '', second = ''] = RARE;
    const question = `How many florins for the ${first} and the ${second}?`;
    await say(question);
    expect(
      set.history.entries.findLast((entry) => 'content' in entry && JSON.stringify(entry).includes('"recalled"')),
    ).toBeDefined();
    expect(await set.session.lastInput()).toBe(question);
    await drain(set.session.retry(null, new AbortController().signal));
    const last = set.requests.at(-1)?.messages.at(-1);
    expect(last?.content.filter((part) => part.type === 'text' && part.recalled !== undefined)).toHaveLength(1);
    expect(await set.session.undo()).toMatchObject({ text: question });
  });

  it('are none without time to search', async () => {
    const known = { isSeen: () => false, isSaid: () => false };
    const question = `florins ${RARE[0]}`;
    expect(await recall.remind(question, known, TOKENS, monotonic())).toMatchObject({ best: expect.any(Number) });
    expect(await recall.remind(question, known, TOKENS, monotonic() - PATIENCE)).toBe('late');
  });
});
