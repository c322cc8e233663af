/** The beginning of a period, and that of the next one. */
export type Span = readonly [begin: Date, end: Date];

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const DAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');

/** The period that English words name: `March`, `last March`, `March 2024`, `Friday`, `last week`, `this month`, `last year`; null for other words. */
export function namedSpan(text: string, now: Date): Span | null {
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
