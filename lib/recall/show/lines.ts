import { localTime, quantity } from '../../chat/text.js';
import { documentKind, searchedText } from '../index/documents.js';
import { queryOf } from '../rank/query.js';
import type { Found, Hit, Said } from '../search.js';
import { marked, passageOf } from './passage.js';
import { distance } from './when.js';

/** The maximum number of characters shown of a message. */
const SHOWN = 240;

const WHO = {
  user: 'you',
  model: 'model',
  call: 'tool call',
  tool: 'tool output',
  note: 'your command',
} as const;

/** Styles a matching word. */
export type Highlight = (word: string) => string;

/** The results, two lines for each: place and time, and the passage around the matching words. `safe` makes a text harmless for a terminal. */
export function foundLines(
  { hits, more, unsearched }: Found,
  query: string,
  now: Date,
  mark: Highlight,
  safe: (text: string) => string = (text) => text,
): readonly string[] {
  const lines = hits.flatMap((hit) => [safe(headOf(hit, now)), `  ${bodyOf(hit, query, mark, safe)}`]);
  if (more > 0) lines.push(`${more} more; add words to narrow it.`);
  return unsearched === 0 ? lines : [...lines, unsearchedLine(unsearched)];
}

/** One message in the same two lines. */
export function groundLines(
  { message, origin, isUndone }: Said & { readonly isUndone: boolean },
  query: string,
  now: Date,
  mark: Highlight,
): readonly string[] {
  const hit = { message, origin, kind: documentKind(message), newer: null };
  const undone = isUndone ? ' · undone' : '';
  return [`${headOf(hit, now)}${undone}`, `  ${bodyOf({ text: searchedText(message) }, query, mark, (text) => text)}`];
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

function bodyOf({ text }: Pick<Hit, 'text'>, query: string, mark: Highlight, safe: (text: string) => string): string {
  return marked(passageOf(safe(text), query, queryOf(query).phrases, SHOWN), mark);
}
