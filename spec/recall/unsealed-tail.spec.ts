import { describe, expect, it } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import { UnsealedTail } from '../../lib/recall/unsealed-tail.js';

const at = '2026-01-01T00:00:00.000Z';
const said = (id: number, text: string): Entry => ({
  id,
  turn: id,
  at,
  cwd: '/',
  role: 'user',
  content: [{ type: 'text', text }],
});
const entries: readonly Entry[] = [
  said(1, 'the first words'),
  said(2, 'the second words'),
  { id: 3, at, type: 'undo', turns: [1] },
  said(4, 'the third words'),
];

describe('what is in no segment yet', () => {
  it('is taken in as long as there is time, and what was undone even without', () => {
    const tail = new UnsealedTail(entries);
    let left = 1;
    expect(tail.add(entries, () => left-- > 0)).toBe(false);
    expect(tail.messages.map(({ id }) => id)).toEqual([1]);
    expect(tail.undone).toEqual([1]);
    expect(tail.add(entries, () => true)).toBe(true);
    expect(tail.messages.map(({ id }) => id)).toEqual([1, 2, 4]);
    expect(tail.undone).toEqual([1]);
  });
});
