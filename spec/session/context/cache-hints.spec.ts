import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../../lib/chat/message.js';
import { cacheHints } from '../../../lib/session/context/cache-hints.js';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

const message = (id: number, turn: number, role: Message['role'], seconds: number): Message => ({
  id,
  turn,
  role,
  at: at(seconds),
  cwd: '/',
  content: [],
});

describe('the hints for a cache', () => {
  it.each([
    ['five minutes', 300, false],
    ['more than five minutes', 301, true],
    ['a day', 86_400, true],
  ])('report a pause of %s', (_what, pause, isSlow) => {
    const said = [message(1, 1, 'user', 0), message(2, 1, 'assistant', 10), message(3, 3, 'user', 10 + pause)];
    expect(cacheHints('log', said)).toEqual({ key: 'log', isSlow });
  });

  it('stay the same while a turn runs, however long its tools take', () => {
    const said = [message(1, 1, 'user', 0), message(2, 1, 'assistant', 10), message(3, 3, 'user', 20)];
    const tools = [message(4, 3, 'assistant', 30), message(5, 3, 'tool', 4000)];
    expect(cacheHints('log', [...said, ...tools]).isSlow).toBe(false);
  });

  it('do not count the time since the output of a local command', () => {
    const said = [message(1, 1, 'user', 0), message(2, 1, 'assistant', 10), message(3, 3, 'user', 900)];
    expect(cacheHints('log', [...said, message(4, 4, 'user', 910)]).isSlow).toBe(true);
  });

  it('report no pause if nothing was answered', () => {
    expect(cacheHints(null, [message(1, 1, 'user', 0)])).toEqual({ key: null, isSlow: false });
  });
});
