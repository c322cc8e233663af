import { quantity } from '../../chat/text.js';
import { HiError } from '../../errors.js';

const DAY = 86_400_000;

/** The time since then: `today`, `3 days ago`, `8 months ago`. */
export function distance(at: string, now: Date): string {
  const then = new Date(at);
  const days = Math.round((startOfDay(now).getTime() - startOfDay(then).getTime()) / DAY);
  if (days <= 0) return 'today';
  if (days === 1) return 'yesterday';
  if (days < 60) return `${quantity(days, 'day')} ago`;
  const months = (now.getFullYear() - then.getFullYear()) * 12 + now.getMonth() - then.getMonth();
  return months < 24
    ? `${quantity(Math.max(2, months), 'month')} ago`
    : `${quantity(Math.floor(months / 12), 'year')} ago`;
}

/**
 * Parses a time: a date, a month, a year, a moment, `today`, `yesterday`, `last March` (see `namedSpan`), or a number
 * of days, weeks, months or years ago (`30d`, `2w`). Returns the beginning of a period, or its end with `last`. Throws
 * a `HiError` of code `usage`.
 */
export function parseTime(text: string, now: Date, last: boolean): Date {
  const wanted = text.trim().toLowerCase();
  const [begin, end] = dateSpan(wanted) ?? relativeSpan(wanted, now) ?? namedSpan(wanted, now) ?? [null, null];
  if (begin !== null && !Number.isNaN(begin.getTime())) return last ? new Date(end.getTime() - 1) : begin;
  throw new HiError('usage', `Cannot read the time '${text}'.`, {
    hint: 'Use a date (2026-03-14), a month (2026-03), a year, today, yesterday, last March, last week, or how long ago (30d, 2w, 6m, 1y).',
  });
}

function dateSpan(text: string): Span | null {
  const [, year, month, day, time] =
    /^(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[t ](\d\d?:\d\d(?::\d\d)?(?:\.\d+)?z?))?)?)?$/.exec(text) ?? [];
  if (year === undefined) return null;
  if (time !== undefined) {
    const moment = new Date(text.toUpperCase().replace(' ', 'T'));
    return [moment, new Date(moment.getTime() + 60_000)];
  }
  const [y, m, d] = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1)];
  if (m > 11 || m < 0 || d < 1 || d > new Date(y, m + 1, 0).getDate()) return null;
  if (month === undefined) return [new Date(y, 0, 1), new Date(y + 1, 0, 1)];
  return day === undefined ? [new Date(y, m, 1), new Date(y, m + 1, 1)] : [new Date(y, m, d), new Date(y, m, d + 1)];
}

function relativeSpan(text: string, now: Date): Span | null {
  const today = startOfDay(now);
  const back = (days: number): Date => new Date(today.getFullYear(), today.getMonth(), today.getDate() - days);
  if (text === 'today') return [today, back(-1)];
  if (text === 'yesterday') return [back(1), today];
  const [, count, unit] = /^(\d{1,4}) ?(d|w|m|y)(?:ays?|eeks?|onths?|ears?)?(?: ago)?$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return null;
  const [years, months] = [unit === 'y' ? Number(count) : 0, unit === 'm' ? Number(count) : 0];
  const days = unit === 'd' ? Number(count) : unit === 'w' ? 7 * Number(count) : 0;
  const [year, month] = [today.getFullYear() - years, today.getMonth() - months];
  // A month before 31 March is the end of February.
  const day = Math.min(today.getDate(), new Date(year, month + 1, 0).getDate());
  const begin = new Date(year, month, day - days);
  return [begin, new Date(begin.getFullYear(), begin.getMonth(), begin.getDate() + 1)];
}

function startOfDay(time: Date): Date {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate());
}

/** The beginning of a period, and that of the next one. */
type Span = readonly [begin: Date, end: Date];

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const DAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');

/**
 * The period that English words name: `March`, `last March`, `March 2024`, `Friday`, `last week`, `this month`, `last
 * year`; null for other words.
 */
function namedSpan(text: string, now: Date): Span | null {
  const [, which = '', name = '', year] = /^(?:(last|this) )?([a-z]{3,9})(?: (\d{4}))?$/.exec(text) ?? [];
  const [y, m, d] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const month = numberOf(name, MONTHS);
  if (month !== null) return monthSpan(month, Number(year ?? latest(month, m, which, y)));
  if (year !== undefined) return null;
  const back = which === 'last' ? 1 : 0;
  const day = numberOf(name, DAYS);
  // 'Friday' is the last one, even on a Friday.
  if (day !== null) return daysFrom(y, m, d - ((now.getDay() - day + 6) % 7) - 1, 1);
  if (which === '') return null;
  if (name === 'week') return daysFrom(y, m, d - ((now.getDay() + 6) % 7) - 7 * back, 7);
  if (name === 'month') return monthSpan(m - back, y);
  return name === 'year' ? [new Date(y - back, 0, 1), new Date(y - back + 1, 0, 1)] : null;
}

/** The year of the latest month of that number: `last` is over, `this` is of this year, and otherwise it has begun. */
function latest(month: number, current: number, which: string, year: number): number {
  const isBefore = which === 'last' ? month >= current : month > current;
  return isBefore && which !== 'this' ? year - 1 : year;
}

const monthSpan = (month: number, year: number): Span => [new Date(year, month, 1), new Date(year, month + 1, 1)];

const daysFrom = (year: number, month: number, day: number, count: number): Span => [
  new Date(year, month, day),
  new Date(year, month, day + count),
];

/** The index of a name, of which three letters are enough. */
function numberOf(name: string, names: readonly string[]): number | null {
  const index = names.findIndex((one) => one.startsWith(name) || (name === 'sept' && one === 'september'));
  return name.length < 3 || index < 0 ? null : index;
}
