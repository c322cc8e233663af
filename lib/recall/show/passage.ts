import type { TextSpan } from '../../chat/event.js';
import { localTime, percent, quantity } from '../../chat/text.js';
import { documentKind, searchedText } from '../index/documents.js';
import { queryOf } from '../rank/query.js';
import { type Found, type Hit, idOf, type Said } from '../search.js';
import { askedWords, placedWords } from '../words/words.js';
import { distance } from './when.js';

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
