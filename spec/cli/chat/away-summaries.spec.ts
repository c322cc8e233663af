import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { AwaySummaries } from '../../../lib/cli/chat/away.js';
import type { Target } from '../../../lib/session/common/deps.js';
import { RestSummaries } from '../../../lib/session/context/rest-summaries.js';

const MINUTE = 60_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** How often a summary was looked for after so many minutes at the prompt. */
function begunAfter(
  target: Pick<Target, 'isSingle' | 'isNear' | 'rest'>,
  ...minutes: readonly number[]
): readonly number[] {
  let begun = 0;
  const restSummaries = new RestSummaries(async () => {
    begun += 1;
    return null;
  });
  const away = new AwaySummaries({ restSummaries, target });
  away.begin();
  return minutes.map((minute) => {
    jest.advanceTimersByTime(minute * MINUTE);
    return begun;
  });
}

it('are begun once, three minutes after an answer', () => {
  expect(begunAfter({}, 2.9, 0.2, 100)).toEqual([0, 1, 1]);
});

it('wait on a server with room for one prompt until it has forgotten that of the conversation', () => {
  const rest = { cache_life: 10 * MINUTE, after: 60 * MINUTE };
  expect(begunAfter({ isSingle: true, rest }, 9.9, 0.2)).toEqual([0, 1]);
  const never = { cache_life: Number.POSITIVE_INFINITY, after: 60 * MINUTE };
  expect(begunAfter({ isSingle: true, rest: never }, 10_000)).toEqual([0]);
});

it('are not begun if the user is back before', () => {
  let begun = 0;
  const restSummaries = new RestSummaries(async () => {
    begun += 1;
    return null;
  });
  const away = new AwaySummaries({ restSummaries, target: {} });
  away.begin();
  jest.advanceTimersByTime(2 * MINUTE);
  away.end();
  jest.advanceTimersByTime(100 * MINUTE);
  expect(begun).toBe(0);
});
