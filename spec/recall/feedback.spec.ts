import { describe, expect, it } from '@jest/globals';
import type { NewMessage } from '../../lib/chat/message.js';
import { recalledParts } from '../../lib/recall/show/for-model.js';
import { monotonic } from '../../lib/waits.js';
import { answers, exchange, openIn, quickFolder, says } from '../support/history.js';
import { prose } from '../support/prose.js';
import { recallIn, searchFor } from '../support/recall.js';

const TURNS = 1000;
const FACT = 'The locker in the gymnasium opens with pomegranate 4711.';
const QUESTION = 'Which word opens the locker in the gymnasium?';

describe('what was recalled', () => {
  it('is neither recalled again nor found, after a thousand turns on one topic', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    await exchange(store, FACT, 'Noted.');
    for (let turn = 0; turn < 160; turn += 1)
      await exchange(store, `Thought ${turn}: ${prose(80, turn)}`, prose(80, turn));
    const recall = recallIn(folder, store);
    expect(await recall.calibrate(60_000)).toBe(true);
    const known = { isSeen: () => false, isSaid: () => false };
    const reminded = async () => {
      const found = await recall.remind(QUESTION, known, 3000, monotonic() + 60_000);
      if (typeof found === 'string') throw new Error(`Automatic recall is ${found}.`);
      return found.reminders;
    };
    const [first] = recalledParts(await reminded(), QUESTION, 3000);
    if (first === undefined) throw new Error('Nothing was recalled.');
    expect(first.text).toContain('pomegranate');
    const recalled = { type: 'text', text: first.text, recalled: first.recalled } as const;
    const asks = (turn: number): NewMessage => ({
      ...says(''),
      content: [{ type: 'text', text: `${turn}: what opens it?` }, recalled],
    });
    const { id } = await store.begin(says('Let us talk about the locker.'));
    const said = Array.from({ length: TURNS }, (_, turn) => [asks(turn), answers(`The locker: answer ${turn}.`)]);
    await store.append(id, said.flat());
    expect(await recall.catchUp(60_000)).toBe(0);
    expect(
      (await recall.search(searchFor('pomegranate', { count: 10, every: true }))).hits.map(({ message }) => message.id),
    ).toEqual([1]);
    const texts = (await reminded()).map(({ text }) => text);
    expect(texts).toContain(FACT);
    for (const text of texts) expect(text).not.toMatch(/recalled|pomegranate.*pomegranate/s);
    recall.close();
    await store.close();
  }, 120_000);
});
