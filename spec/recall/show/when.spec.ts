import { describe, expect, it } from '@jest/globals';
import { localTime } from '../../../lib/chat/text/local-time.js';
import { distance, parseTime } from '../../../lib/recall/show/when.js';

const NOW = new Date(2026, 10, 22, 15, 30);
const local = (time: Date): string => localTime(time.toISOString());

describe('a time in words', () => {
  it.each([
    ['2026-03-14', 'Sat 14 Mar 2026 00:00', 'Sat 14 Mar 2026 23:59'],
    ['2026-03', 'Sun 1 Mar 2026 00:00', 'Tue 31 Mar 2026 23:59'],
    ['2024', 'Mon 1 Jan 2024 00:00', 'Tue 31 Dec 2024 23:59'],
    ['2026-03-14 09:15', 'Sat 14 Mar 2026 09:15', 'Sat 14 Mar 2026 09:15'],
    ['today', 'Sun 22 Nov 2026 00:00', 'Sun 22 Nov 2026 23:59'],
    ['Yesterday', 'Sat 21 Nov 2026 00:00', 'Sat 21 Nov 2026 23:59'],
    ['2w', 'Sun 8 Nov 2026 00:00', 'Sun 8 Nov 2026 23:59'],
    ['3 months ago', 'Sat 22 Aug 2026 00:00', 'Sat 22 Aug 2026 23:59'],
  ])('%s begins and ends in the time zone of this machine', (text, begin, end) => {
    expect([local(parseTime(text, NOW, false)), local(parseTime(text, NOW, true))]).toEqual([begin, end]);
  });

  it.each(['2026-13', '2026-02-30', 'soon', '', '14.3.2026'])('that cannot be read is refused: %j', (text) => {
    expect(() => parseTime(text, NOW, false)).toThrow(`Cannot read the time '${text}'.`);
  });
});

describe('the time since a message', () => {
  it.each([
    [new Date(2026, 10, 22, 1), 'today'],
    [new Date(2026, 10, 21, 23), 'yesterday'],
    [new Date(2026, 10, 1), '21 days ago'],
    [new Date(2026, 2, 3), '8 months ago'],
    [new Date(2021, 2, 3), '5 years ago'],
  ])('%s is %s', (time, expected) => {
    expect(distance(time.toISOString(), NOW)).toBe(expected);
  });
});
