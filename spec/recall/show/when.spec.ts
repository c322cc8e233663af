import { describe, expect, it } from '@jest/globals';
import { localTime } from '../../../lib/chat/text.js';
import { distance, parseTime } from '../../../lib/recall/show/passage.js';

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
    ['last March', 'Sun 1 Mar 2026 00:00', 'Tue 31 Mar 2026 23:59'],
    ['november', 'Sun 1 Nov 2026 00:00', 'Mon 30 Nov 2026 23:59'],
    ['last Nov', 'Sat 1 Nov 2025 00:00', 'Sun 30 Nov 2025 23:59'],
    ['December', 'Mon 1 Dec 2025 00:00', 'Wed 31 Dec 2025 23:59'],
    ['this december', 'Tue 1 Dec 2026 00:00', 'Thu 31 Dec 2026 23:59'],
    ['Sept 2024', 'Sun 1 Sep 2024 00:00', 'Mon 30 Sep 2024 23:59'],
    ['Friday', 'Fri 20 Nov 2026 00:00', 'Fri 20 Nov 2026 23:59'],
    ['last sunday', 'Sun 15 Nov 2026 00:00', 'Sun 15 Nov 2026 23:59'],
    ['this week', 'Mon 16 Nov 2026 00:00', 'Sun 22 Nov 2026 23:59'],
    ['last week', 'Mon 9 Nov 2026 00:00', 'Sun 15 Nov 2026 23:59'],
    ['last month', 'Thu 1 Oct 2026 00:00', 'Sat 31 Oct 2026 23:59'],
    ['last year', 'Wed 1 Jan 2025 00:00', 'Wed 31 Dec 2025 23:59'],
  ])('%s begins and ends in the time zone of this machine', (text, begin, end) => {
    expect([local(parseTime(text, NOW, false)), local(parseTime(text, NOW, true))]).toEqual([begin, end]);
  });

  it.each([
    '2026-13',
    '2026-02-30',
    'soon',
    '',
    '14.3.2026',
    'ma',
    'last',
    'last marchs',
    'friday 2024',
    'week',
    'last ',
  ])('that cannot be read is refused: %j', (text) => {
    expect(() => parseTime(text, NOW, false)).toThrow(`Cannot read the time '${text}'.`);
  });
});

it('is a month before the last of a longer month', () => {
  expect(local(parseTime('1m', new Date(2026, 2, 31, 12), false))).toBe('Sat 28 Feb 2026 00:00');
  expect(local(parseTime('1y', new Date(2024, 1, 29, 12), false))).toBe('Tue 28 Feb 2023 00:00');
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
