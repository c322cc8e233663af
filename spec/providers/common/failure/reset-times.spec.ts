import { expect, it } from '@jest/globals';
import { retryAfter } from '../../../../lib/providers/common/vendor-error.js';
import fc from '../../../support/properties.js';

const MINUTE = 60_000;
const two = (number: number): string => String(number).padStart(2, '0');

const wait = (message: string): number | null =>
  retryAfter({ status: 429, kinds: [], message, param: null, headers: null, details: [] });

it('a time of day at which a limit resets is the next one, by the clock that the server names', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 23 * 60 }), fc.boolean(), (minutes, isUtc) => {
      const due = new Date(Date.now() + minutes * MINUTE);
      const [hour, minute] = isUtc ? [due.getUTCHours(), due.getUTCMinutes()] : [due.getHours(), due.getMinutes()];
      const zone = isUtc ? ' (UTC)' : '';
      const half = `${hour % 12 || 12}:${two(minute)}${hour < 12 ? 'am' : 'pm'}`;
      for (const said of [`${two(hour)}:${two(minute)}`, half]) {
        const found = wait(`You have reached your usage limit. It resets at ${said}${zone}.`) ?? 0;
        expect(Math.abs(found - minutes * MINUTE)).toBeLessThanOrEqual(MINUTE);
      }
    }),
  );
});

it('a date or a span is taken as it is, and a count is no time', () => {
  const due = new Date(Date.now() + 90 * MINUTE).toISOString();
  expect(Math.abs((wait(`Quota resets at ${due}.`) ?? 0) - 90 * MINUTE)).toBeLessThan(MINUTE);
  expect(wait('Limit reached, resets in 2h13m.')).toBe(133 * MINUTE);
  expect(wait('It resets 5 counters.')).toBeNull();
});
