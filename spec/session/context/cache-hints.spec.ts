import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Message } from '../../../lib/chat/message.js';
import { cacheHints } from '../../../lib/session/context/request-overhead.js';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

const message = (id: number, turn: number, role: Message['role'], seconds: number): Message => ({
  id,
  turn,
  role,
  at: at(seconds),
  cwd: '/',
  content: [],
});

/** A question after each of these pauses, in seconds, each but the last one answered. */
function talk(pauses: readonly number[]): Message[] {
  const said = [message(1, 1, 'user', 0), message(2, 1, 'assistant', 10)];
  let now = 10;
  for (const [index, pause] of pauses.entries()) {
    const id = 3 + 2 * index;
    now += pause;
    said.push(message(id, id, 'user', now));
    now += 10;
    if (index < pauses.length - 1) said.push(message(id + 1, id, 'assistant', now));
  }
  return said;
}

const hints = (said: readonly Message[], running = said.at(-1)?.turn ?? null) => cacheHints('log', said, running);

describe('the hints for a cache', () => {
  it.each([
    ['three of the last five', [301, 60, 3600, 60, 900], true],
    ['two of them', [60, 60, 3600, 60, 900], false],
    ['none, because the night is longer than any cache', [40_000, 40_000, 40_000], false],
    ['many, but not lately', [900, 900, 900, 900, 900, 60, 60, 60], false],
    ['the first one', [900], false],
  ])('say that pauses between five minutes and an hour are the rule: %s', (_what, pauses, isSlow) => {
    expect(hints(talk(pauses))).toEqual({ key: 'log', isSlow });
  });

  it('depend on the last five pauses only, and stay the same whatever follows the question', () => {
    const pause = fc.constantFrom(1, 300, 301, 3600, 3601, 86_400);
    fc.assert(
      fc.property(fc.array(pause, { minLength: 5, maxLength: 12 }), (pauses) => {
        const said = talk(pauses);
        const { turn = 0, at: asked = '' } = said.at(-1) ?? {};
        const slow = pauses.slice(-5).filter((seconds) => seconds > 300 && seconds <= 3600);
        const seconds = (Date.parse(asked) - Date.UTC(2026, 0, 1)) / 1000;
        const tools = [
          message(turn + 1, turn, 'assistant', seconds + 1),
          message(turn + 2, turn, 'tool', seconds + 999),
        ];
        const elsewhere = [message(turn + 3, turn + 3, 'user', seconds + 1000)];
        expect(hints(said).isSlow).toBe(slow.length >= 3);
        expect(hints([...said, ...tools, ...elsewhere], turn)).toEqual(hints(said));
      }),
    );
  });

  it('do not count the time since the output of a local command', () => {
    const said = talk([900, 900, 900]);
    const { turn = 0 } = said.at(-1) ?? {};
    expect(hints([...said, message(turn + 1, turn + 1, 'user', 9999)], turn + 1).isSlow).toBe(false);
  });

  it('report no pause if nothing was answered', () => {
    expect(cacheHints(null, [message(1, 1, 'user', 0)], 1)).toEqual({ key: null, isSlow: false });
  });
});
