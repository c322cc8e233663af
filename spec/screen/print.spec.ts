import { describe, expect, it } from '@jest/globals';
import { compactionLine, shortCount } from '../../lib/chat/transcript.js';
import { HiError } from '../../lib/errors.js';
import { errorText, shortTime } from '../../lib/screen/print.js';

describe('a printed line', () => {
  it('is followed by the hint of an error on its own line', () => {
    const error = new HiError('config', "Unknown provider 'opnai'.", { hint: "Did you mean 'openai'?" });
    expect(errorText(error)).toBe("hi: Unknown provider 'opnai'.\n    Did you mean 'openai'?");
    expect(errorText(new HiError('bug', 'Oh.'))).toBe('hi: Oh.');
  });

  it('describes a compaction', () => {
    const report = { strategy: 'summary', source: 'model', messages_compacted: 42, messages_kept: 6 } as const;
    expect(compactionLine({ ...report, tokens_before: 101_000, tokens_after: 14_000 })).toBe(
      '── 42 messages compacted · 6 kept · 101k → 14k tokens ──',
    );
  });

  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1k'],
    [1234, '1.2k'],
    [9_949, '9.9k'],
    [9_950, '10k'],
    [999_499, '999k'],
    [1_500_000, '1.5M'],
  ])('shortens the count %d to %s', (count, shown) => {
    expect(shortCount(count)).toBe(shown);
  });

  it.each([
    [420, '0.4s'],
    [3_900, '3s'],
    [125_000, '2m 05s'],
  ])('shortens %d milliseconds to %s', (time, shown) => {
    expect(shortTime(time)).toBe(shown);
  });
});
