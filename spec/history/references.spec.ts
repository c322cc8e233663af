import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../lib/chat/message.js';
import { answers, fileIn, openIn, printed, quickFolder, says, zstd } from '../support/history.js';

const AT = '2026-01-01T00:00:00Z';
const message = (id: number, turn: number, role: string, more: object = {}) => ({
  id,
  turn,
  at: AT,
  cwd: '/',
  role,
  content: [{ type: 'text', text: `words ${id}` }],
  ...more,
});
const FIRST = [message(1, 1, 'user'), message(2, 1, 'assistant', { stop_reason: 'end' })];
const block = (more: object) => ({ id: 3, at: AT, type: 'compress', content: 'sum', strategy: 'summary', ...more });

/** Elements that name others which are not there yet. */
const EARLY: Readonly<Record<string, readonly object[]>> = {
  'a block that keeps from a later message on': [block({ first_kept: 500 })],
  'a block whose cut is a later turn': [block({ first_kept: null, state: { cut: { turn: 500, id: 500 } } })],
  'a block whose cut is a later message of an earlier turn': [block({ state: { cut: { turn: 1, id: 500 } } })],
  'a block that shortens later messages': [block({ state: { pruned: [4, 5, 6] } })],
  'an undo mark of coming turns': [{ id: 3, at: AT, type: 'undo', turns: [3, 4, 5, 6, 7, 8] }],
  'a redo mark of coming turns': [{ id: 3, at: AT, type: 'redo', turns: [1, 4, 5, 6] }],
  'a pin of a coming message': [{ id: 3, at: AT, type: 'pin', message: message(9, 9, 'user') }],
  'a mark that unpins coming messages': [{ id: 3, at: AT, type: 'unpin', messages: [4, 5, 6] }],
  'a block with pins that come later': [block({ pins: { until: 500, messages: [message(9, 9, 'user')] } })],
  'messages of a later turn': [message(3, 500, 'user'), message(4, 500, 'assistant', { stop_reason: 'end' })],
  'an answer in a coming turn': [message(3, 3, 'user'), message(4, 5, 'assistant', { stop_reason: 'end' })],
};

describe('references to entries that do not exist yet', () => {
  it.each(Object.keys(EARLY))('do not affect entries added later: %s', async (name) => {
    const folder = quickFolder();
    const elements = [...FIRST, ...(EARLY[name] ?? [])];
    writeFileSync(fileIn(folder), zstd(Buffer.from(JSON.stringify(elements))));
    for (const round of [1, 2]) {
      const store = await openIn(folder);
      const question = `${round} ${'long '.repeat(2000)}`;
      const asked = await store.begin(says(question));
      const sent = store.view(asked.id).messages;
      expect(textOf(sent.at(-1)?.content ?? [])).toBe(question);
      await store.append(asked.id, [answers('yes')]);
      const next = await store.begin(says('next'));
      expect(
        store
          .view(next.id)
          .messages.slice(-3)
          .map(({ content }) => textOf(content)),
      ).toEqual([question, 'yes', 'next']);
      await store.append(next.id, [answers('yes')]);
      await store.close();
    }
    expect(JSON.parse(printed(folder)).slice(0, elements.length)).toMatchObject(elements);
  });
});
