import { expect, it } from '@jest/globals';
import { nearLimits } from '../../../lib/cli/base/settings.js';

const MINUTES = 60_000;

it('allows a nearby model hours for a summary, and half an hour for its first word', () => {
  for (const file of [null, {}, { compaction: { keep_recent: 4 } }])
    expect(nearLimits(file)).toEqual({ timeout_ms: 240 * MINUTES, idle_timeout_ms: 15 * MINUTES });
});

it('uses each limit that the user set, even if it equals the default of another', () => {
  expect(nearLimits({ compaction: { timeout_ms: 120_000 } })).toEqual({
    timeout_ms: 120_000,
    idle_timeout_ms: 15 * MINUTES,
  });
  expect(nearLimits({ compaction: { idle_timeout_ms: 300, keep_recent: 4 } })).toEqual({
    timeout_ms: 240 * MINUTES,
    idle_timeout_ms: 300,
  });
});
