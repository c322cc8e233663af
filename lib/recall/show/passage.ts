import type { TextSpan } from '../../chat/event.js';
import { localTime, percent, quantity } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { documentKind, searchedText } from '../index/documents.js';
import { queryOf } from '../rank/query.js';
import { type Found, type Hit, idOf, type Said } from '../search.js';
import { askedWords, placedWords } from '../words/words.js';

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

/** The part of a text around the matching words. */
export interface Passage {
  /** On one line, with `…` at the cuts. */
  readonly text: string;
  /** The positions of the matching words in it. */
  readonly marks: readonly TextSpan[];
}

/** About `length` characters of the text, where it has most of the words, or the phrase. */
export function passageOf(text: string, query: string, phrases: readonly string[], length: number): Passage {
  const places = wantedPlaces(text, query, phrases);
  const [from, to] = bestSpan(text, places, length);
  const inside = places.filter(({ start, end }) => start >= from && end <= to);
  let shown = from > 0 ? '… ' : '';
  const marks: { readonly start: number; readonly end: number }[] = [];
  let at = from;
  for (const { start, end } of inside) {
    shown += flat(text.slice(at, start), shown === '');
    marks.push({ start: shown.length, end: shown.length + flat(text.slice(start, end), true).length });
    shown += flat(text.slice(start, end), true);
    at = end;
  }
  shown += flat(text.slice(at, to), shown === '');
  return { text: shown.trimEnd() + (to < text.length ? ' …' : ''), marks };
}

/** The text with `mark` applied to each match. */
export function marked({ text, marks }: Passage, mark: (word: string) => string): string {
  let at = 0;
  let shown = '';
  for (const { start, end } of marks) {
    shown += text.slice(at, start) + mark(text.slice(start, end));
    at = end;
  }
  return shown + text.slice(at);
}

/** The places of the matches in a whole text, in order. */
export function matchesIn(text: string, query: string): readonly TextSpan[] {
  return wantedPlaces(text, query, queryOf(query).phrases);
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly word: string;
}

function wantedPlaces(text: string, query: string, phrases: readonly string[]): readonly Place[] {
  const exact = phrases.flatMap((phrase) => phrasePlaces(text, phrase));
  if (exact.length > 0) return apart(exact.toSorted((one, other) => one.start - other.start));
  const wanted = new Set(askedWords(query).map(({ word }) => word));
  const found: Place[] = [];
  for (const { index, length, words: own } of placedWords(text)) {
    const word = own.find((one) => wanted.has(one));
    if (word !== undefined) found.push({ start: index, end: index + length, word });
  }
  return found;
}

/** The positions of a phrase, ignoring case and line breaks. */
function phrasePlaces(text: string, phrase: string): readonly Place[] {
  const pieces = phrase.trim().split(/\s+/);
  const pattern = pieces.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('\\s+');
  const found = text.matchAll(new RegExp(pattern, 'giu'));
  return Array.from(found, ({ 0: { length }, index }) => ({ start: index, end: index + length, word: phrase }));
}

/** The places, in order, without those that begin inside another. */
function apart(places: readonly Place[]): readonly Place[] {
  let end = 0;
  return places.filter((place) => {
    if (place.start < end) return false;
    end = place.end;
    return true;
  });
}

/** The span of `length` characters with the most different words, cut at word boundaries. */
function bestSpan(text: string, places: readonly Place[], length: number): readonly [from: number, to: number] {
  if (text.length <= length) return [0, text.length];
  let [best, most] = [places[0], 0];
  places.forEach((place, index) => {
    const near = new Set<string>();
    for (let next = index; next < places.length && (places[next]?.end ?? 0) - place.start <= length; next += 1) {
      near.add(places[next]?.word ?? '');
    }
    if (near.size > most) [best, most] = [place, near.size];
  });
  const wanted = Math.max(0, Math.min((best?.start ?? 0) - Math.floor(length / 4), text.length - length));
  const from = wanted === 0 ? 0 : afterSpace(text, wanted, best?.start ?? wanted);
  const end = Math.min(text.length, from + length);
  return [from, end === text.length ? end : beforeSpace(text, end)];
}

function afterSpace(text: string, from: number, limit: number): number {
  const space = text.slice(from, limit).search(/\s/);
  return space < 0 ? whole(text, from) : from + space + 1;
}

function beforeSpace(text: string, end: number): number {
  const space = text.lastIndexOf(' ', end);
  return space > end - 40 ? space : whole(text, end);
}

/** Moves a position out of a surrogate pair. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

function flat(text: string, isFirst: boolean): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return isFirst ? line.trimStart() : line;
}

/** The maximum number of characters shown of a message. */
const SHOWN = 240;

/** How far a passage is indented below its head, in columns. */
const INDENT = 2;

const WHO = {
  user: 'you',
  model: 'model',
  call: 'tool call',
  tool: 'tool output',
  note: 'your command',
} as const;

/**
 * The results, two lines for each: place and time, and the passage around the matching words. `safe` makes a text
 * harmless for a terminal.
 */
export function foundLines(
  { hits, more, unsearched }: Found,
  query: string,
  now: Date,
  safe: (text: string) => string = (text) => text,
): readonly Passage[] {
  const lines = hits.flatMap((hit) => [unmarked(safe(headOf(hit, now))), bodyOf(safe(hit.text), query)]);
  if (more > 0) lines.push(unmarked(`${more} more; add words to narrow it.`));
  return unsearched === 0 ? lines : [...lines, unmarked(unsearchedLine(unsearched))];
}

/** One message in the same two lines. */
export function groundLines(
  { message, origin, isUndone }: Said & { readonly isUndone: boolean },
  query: string,
  now: Date,
): readonly Passage[] {
  const hit = { message, origin, kind: documentKind(message), newer: null };
  const undone = isUndone ? ' · undone' : '';
  return [unmarked(`${headOf(hit, now)}${undone}`), bodyOf(searchedText(message), query)];
}

const unmarked = (text: string): Passage => ({ text, marks: [] });

/** A line behind so many more spaces. */
export function indented({ text, marks }: Passage, spaces = INDENT): Passage {
  return {
    text: ' '.repeat(spaces) + text,
    marks: marks.map(({ start, end }) => ({ start: start + spaces, end: end + spaces })),
  };
}

/** The number of results, and what to do next. */
export function summaryLine({ hits, isWhole }: Found, query: string): string {
  if (hits.length === 0) return `No message contains '${query}'.`;
  const count = `${quantity(hits.length, 'message')}.`;
  const partly = isWhole ? '' : ' None has all the words; these come closest.';
  return `${count}${partly} To see one in its place: /history ${hits[0] ? idOf(hits[0]) : ''}`;
}

/** The notice that a part of the conversation is not indexed yet. */
export function unsearchedLine(unsearched: number): string {
  return `${percent(Math.max(0.01, unsearched))} of the conversation is not indexed yet. To index it now, run: hi recall --rebuild`;
}

function headOf(
  { message, kind, origin, newer, book }: Pick<Hit, 'message' | 'kind' | 'origin' | 'newer' | 'book'>,
  now: Date,
): string {
  const who = kind === 'model' ? (message.model ?? WHO.model) : WHO[kind];
  const foreign = origin === 'foreign' ? ' · after reading foreign content' : '';
  const named = { message, ...(book !== undefined && { book }) };
  const later = newer === null ? '' : ` · newer: ${idOf(named, newer)}`;
  const when = message.at === '' ? 'no time' : `${localTime(message.at)} · ${distance(message.at, now)}`;
  return `${idOf(named)} · ${when} · ${who}${foreign}${later}`;
}

function bodyOf(text: string, query: string): Passage {
  return indented(passageOf(text, query, queryOf(query).phrases, SHOWN));
}
