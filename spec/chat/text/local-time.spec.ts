import { describe, expect, it } from '@jest/globals';
import { localMinute } from '../../../lib/chat/text.js';

const local = (...parts: [number, number, number, number, number]): string => new Date(...parts).toISOString();
const now = new Date(2026, 10, 22, 0, 5);

describe('a local time', () => {
  it.each([
    [local(2026, 10, 22, 0, 1), 'today 00:01'],
    [local(2026, 10, 21, 23, 59), 'yesterday 23:59'],
    [local(2026, 10, 20, 9, 3), '2026-11-20 09:03'],
    [local(2025, 10, 22, 9, 3), '2025-11-22 09:03'],
  ])('of %s is %s to a reader on the 22nd', (at, expected) => {
    expect(localMinute(at, now)).toBe(expected);
  });

  it('includes its date in a text that is read later', () => {
    expect(localMinute(local(2026, 10, 22, 0, 1))).toBe('2026-11-22 00:01');
  });

  it('leaves what is not a time unchanged', () => {
    expect(localMinute('some day', now)).toBe('some day');
  });
});
