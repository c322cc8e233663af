import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isTurnName, type NewMessage, newUid, turnName } from '../../lib/chat/message.js';

const at = '2026-11-22T10:00:00.000Z';
const says = (text: string, more: Partial<NewMessage> = {}): NewMessage & { readonly at: string } => ({
  at,
  role: 'user',
  content: [{ type: 'text', text }],
  cwd: '/',
  ...more,
});

it('the name of a turn is its uid', () => {
  const uid = newUid();
  expect(isTurnName(uid)).toBe(true);
  expect(turnName(says('hello', { uid }))).toBe(uid);
});

it('a turn without one is named by when it was said, by whom, and its own words', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, other) => {
      fc.pre(text !== other);
      const name = turnName(says(text));
      expect(isTurnName(name)).toBe(true);
      expect(name).toBe(turnName(says(text, { cwd: '/elsewhere', host: 'laptop', uid: 'not one' })));
      const added = { type: 'text', text: '[now]', clock: true } as const;
      expect(name).toBe(turnName(says(text, { content: [added, { text, type: 'text' }] })));
      expect(name).not.toBe(turnName(says(other)));
      expect(name).not.toBe(turnName({ ...says(text), at: '2026-11-22T10:00:00.001Z' }));
    }),
  );
});
