import { asShownHere } from '../../time-zone/time-zone.js';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A time as the user reads it: `Tue 3 Mar 2026 21:05`, by the clock of this machine. */
export function localTime(at: string): string {
  const time = asShownHere(new Date(at));
  const clock = `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}`;
  return `${DAYS[time.getUTCDay()]} ${time.getUTCDate()} ${MONTHS[time.getUTCMonth()]} ${time.getUTCFullYear()} ${clock}`;
}

/**
 * A time by the clock of this machine: `2026-11-22 13:27`. With `now`, for a reader at that moment, the day is `today` or `yesterday` where it is. A text that
 * is not a time stays as it is.
 */
export function localMinute(at: string, now: Date | null = null): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return `${(now === null ? null : nearDay(time, now)) ?? dateOf(time)} ${clock}`;
}

function nearDay(time: Date, now: Date): string | null {
  if (dateOf(time) === dateOf(now)) return 'today';
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  return dateOf(time) === dateOf(yesterday) ? 'yesterday' : null;
}

const dateOf = (time: Date): string =>
  `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;

const two = (number: number): string => String(number).padStart(2, '0');
