import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewMessage, Part } from '../../lib/chat/message.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { recallForModel } from '../../lib/recall/show/for-model.js';
import { answers, openIn, quickFolder, says } from '../support/history.js';
import { recallIn, searchFor } from '../support/recall.js';

let store: HistoryStore;
let folder: string;

beforeEach(async () => {
  folder = quickFolder();
  store = await openIn(folder);
});

afterEach(async () => {
  await store.close();
});

const called = (text: string): NewMessage => ({
  ...answers(text, 'tool_calls'),
  content: [
    { type: 'text', text },
    { type: 'tool_call', call_id: 'c', name: 'read_page', args: { page: 'example' } },
  ],
});

const printed = (result: string): NewMessage => ({
  role: 'tool',
  content: [{ type: 'tool_result', call_id: 'c', name: 'read_page', result }],
  cwd: '/',
});

async function turn(asked: NewMessage, ...more: readonly NewMessage[]): Promise<void> {
  const { id } = await store.begin(asked);
  await store.append(id, more);
}

const withParts = (...content: readonly Part[]): NewMessage => ({ ...says(''), content });

async function originsOf(word: string): Promise<Readonly<Record<string, string>>> {
  const recall = recallIn(folder, store);
  const { hits } = await recall.search(searchFor(word, { count: 10 }));
  recall.close();
  const found = hits.filter(({ text }) => text.includes(word));
  return Object.fromEntries(found.map(({ text, origin }) => [text.split('\n')[0], origin]));
}

describe('the origin of words', () => {
  it('depends on who wrote them', async () => {
    await turn(says('My zeppelin is blue.'), answers('A fine zeppelin.'));
    expect(await originsOf('zeppelin')).toEqual({ 'My zeppelin is blue.': 'user', 'A fine zeppelin.': 'model' });
  });

  it("is foreign for the model's words after it read a tool's result, not before", async () => {
    await turn(
      says('Look.'),
      called('Looking for the zeppelin.'),
      printed('zeppelins are banned'),
      answers('No zeppelin.'),
    );
    expect(await originsOf('zeppelin')).toEqual({
      'Looking for the zeppelin.': 'model',
      'zeppelins are banned': 'tool',
      'No zeppelin.': 'foreign',
    });
  });

  it('is foreign after a page of the web, a file, a picture, or the output of a command of the user', async () => {
    await turn(says('One?'), { ...answers('The first zeppelin.'), sources: [] });
    await turn(
      withParts({ type: 'text', text: '<file>…</file>' }, { type: 'text', text: 'Two?' }),
      answers('The second zeppelin.'),
    );
    const image: Part = { type: 'image', mime: 'image/png', sha256: 'a'.repeat(64), bytes: 1 };
    await turn(withParts(image, { type: 'text', text: 'Three?' }), answers('The third zeppelin.'));
    await store.note(says('I ran this command myself: curl\nzeppelin'));
    await turn(says('Four?'), answers('The fourth zeppelin.'));
    await turn(says('Five?'), answers('The fifth zeppelin.'));
    expect(await originsOf('zeppelin')).toEqual({
      'The first zeppelin.': 'foreign',
      'The second zeppelin.': 'foreign',
      'The third zeppelin.': 'foreign',
      'I ran this command myself: curl': 'tool',
      'The fourth zeppelin.': 'foreign',
      'The fifth zeppelin.': 'model',
    });
  });

  it('is foreign after a call of the search itself, whose results are not found', async () => {
    const call: Part = { type: 'tool_call', call_id: 'c', name: 'recall', args: { query: 'x' } };
    const result: Part = {
      type: 'tool_result',
      call_id: 'c',
      name: 'recall',
      result: { recalled: 'a page said so' },
    };
    await turn(
      says('What?'),
      { ...answers('', 'tool_calls'), content: [call] },
      { role: 'tool', content: [result], cwd: '/' },
      answers('A zeppelin.'),
    );
    expect(await originsOf('zeppelin')).toEqual({ 'A zeppelin.': 'foreign' });
  });

  it('stays the same once it is sealed', async () => {
    const long = 'filler of many words '.repeat(10_000);
    await turn(says('Look.'), called('x'), printed(long), answers(`A zeppelin. ${long}`));
    for (let index = 0; index < 6; index += 1) await turn(says(`Next ${index} ${long}`), answers(long));
    const recall = recallIn(folder, store);
    expect(await recall.catchUp(60_000)).toBe(0);
    const { hits } = await recall.search(searchFor('zeppelin', { count: 1 }));
    recall.close();
    expect(hits.map(({ origin }) => origin)).toEqual(['foreign']);
  });

  it('labels everything that the model gets', async () => {
    await turn(
      says('Look at the zeppelin.'),
      called('I look.'),
      printed('the user wants a zeppelin'),
      answers('You want a zeppelin.'),
    );
    const recall = recallIn(folder, store);
    const signal = new AbortController().signal;
    const { recalled: found } = await recallForModel(recall, { query: 'zeppelin' }, new Date(), '', signal);
    const { recalled: around } = await recallForModel(recall, { around: 3 }, new Date(), '', signal);
    recall.close();
    for (const text of [found, around]) {
      expect(text).toMatch(/^#1 · .* · user said · /m);
      expect(text).toMatch(/^#3 · .* · tool output · /m);
      expect(text).toMatch(/^#4 · .* · model said after reading foreign content · /m);
    }
    expect(found).toContain('(before, #3, tool output: the user wants a zeppelin)');
  });
});
