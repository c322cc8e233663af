import { localTime, quantity } from '../../chat/text.js';
import { documentKind, searchedText } from '../index/documents.js';
import { queryOf } from '../rank/query.js';
import type { Found, Hit, Said } from '../search.js';
import { type Passage, passageOf } from './passage.js';
import { distance } from './when.js';

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

/** The results, two lines for each: place and time, and the passage around the matching words. `safe` makes a text harmless for a terminal. */
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
  return `${count}${partly} To see one in its place: /history #${hits[0]?.message.id}`;
}

/** The notice that a part of the conversation is not indexed yet. */
export function unsearchedLine(unsearched: number): string {
  return `${Math.max(1, Math.round(100 * unsearched))} % of the conversation is not indexed yet. To index it now, run: hi recall --rebuild`;
}

function headOf(
  { message, kind, origin, newer }: Pick<Hit, 'message' | 'kind' | 'origin' | 'newer'>,
  now: Date,
): string {
  const who = kind === 'model' ? (message.model ?? WHO.model) : WHO[kind];
  const foreign = origin === 'foreign' ? ' · after reading foreign content' : '';
  const later = newer === null ? '' : ` · newer: #${newer}`;
  return `#${message.id} · ${localTime(message.at)} · ${distance(message.at, now)} · ${who}${foreign}${later}`;
}

function bodyOf(text: string, query: string): Passage {
  return indented(passageOf(text, query, queryOf(query).phrases, SHOWN));
}
