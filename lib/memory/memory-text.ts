import { createHash } from 'node:crypto';
import type { Entry } from '../chat/entry.js';
import { asTokens, estimateTokens, type Tokens } from '../chat/request.js';
import { type Fact, restOf, stateOf } from '../view/block-state.js';
import { newestBlock } from '../view/view.js';

/** How much of the memory is sent. */
export const MEMORY_LIMIT = asTokens(1000);

/**
 * Where a line came from: the user, a proposal of the model that the user accepted, or a fact of a summary (`record`)
 * that the user kept.
 */
export const AUTHORS = ['user', 'model', 'record'] as const;

/** Where a line comes from. */
export interface LineOrigin {
  readonly by: (typeof AUTHORS)[number];
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The id of the newest message at that time; null if there was none. */
  readonly id: number | null;
  /** True if it is partly based on text from tools, files or web pages. */
  readonly foreign?: true;
}

/** A line of the memory as it is sent, without its bullet. */
export interface MemoryLine {
  /** Its number in the file, from 1. */
  readonly line: number;
  readonly text: string;
  /** Null if it was written by hand. */
  readonly origin: LineOrigin | null;
}

/** The non-empty lines, with their origins. */
export function linesOf(source: string): readonly MemoryLine[] {
  const origins = originsByLine(source);
  return withoutComments(source)
    .split('\n')
    .flatMap((row, index) => {
      const text = textOf(row);
      return text === '' ? [] : [{ line: index + 1, text, origin: origins.get(index) ?? null }];
    });
}

/** The part of the file that is sent, and the size of the whole file. */
export interface SentMemory {
  readonly text: string;
  /** The estimate for the whole file, without its comments. */
  readonly tokens: Tokens;
  /** The number of the first line beyond the limit, from which on nothing is sent; null if everything is sent. */
  readonly leftOutFrom: number | null;
}

/** The text without comments, in whole lines, up to the limit. */
export function sentMemory(source: string): SentMemory {
  const rows = rowsOf(source);
  const whole = textOfRows(rows);
  const tokens = estimateTokens(whole.length);
  if (tokens <= MEMORY_LIMIT) return { text: whole, tokens, leftOutFrom: null };
  let characters = 0;
  const fitting = rows.findIndex(({ text }, index) => {
    characters += text.length + (index === 0 ? 0 : 1);
    return estimateTokens(characters) > MEMORY_LIMIT;
  });
  return { text: textOfRows(rows.slice(0, fitting)), tokens, leftOutFrom: rows[fitting]?.line ?? null };
}

interface Row {
  readonly line: number;
  readonly text: string;
}

/**
 * The rows to send: without comments, without empty rows at the start, and with at most one empty row in succession.
 */
function rowsOf(source: string): readonly Row[] {
  const rows = unescapeComments(withoutComments(source))
    .split('\n')
    .map((text, index) => ({ line: index + 1, text: text.trimEnd() }));
  return rows.filter(({ text }, index) => text !== '' || (index > 0 && rows[index - 1]?.text !== ''));
}

const textOfRows = (rows: readonly Row[]): string =>
  rows
    .map(({ text }) => text)
    .join('\n')
    .trim();

/** The source with one more line at its end. */
export function withLine(source: string, text: string, origin: LineOrigin): string {
  const newline = source.includes('\r\n') ? '\r\n' : '\n';
  const closed = withoutOpenComment(source);
  const before = closed === '' || closed.endsWith('\n') ? closed : closed + newline;
  return `${before}- ${rowOf(text, origin)}${newline}`;
}

/** The source with the text of one line replaced. Its bullet and position stay. */
export function withLineReplaced(source: string, { line }: MemoryLine, text: string, origin: LineOrigin): string {
  const rows = withoutOpenComment(source).split('\n');
  const row = rows[line - 1] ?? '';
  rows[line - 1] = `${BULLET.exec(row)?.[0] ?? ''}${rowOf(text, origin)}${row.endsWith('\r') ? '\r' : ''}`;
  return rows.join('\n');
}

/**
 * The line that a text refers to: the line equal to it, or the only one that contains it. Null if there is none or more
 * than one.
 */
export function lineNamed(source: string, text: string): MemoryLine | null {
  const lines = linesOf(source);
  const wanted = textOf(text);
  const exact = lines.find((line) => isSameText(line.text, wanted));
  if (exact !== undefined || wanted === '') return exact ?? null;
  const containing = lines.filter((line) => normal(line.text).includes(normal(wanted)));
  return containing.length === 1 ? (containing[0] ?? null) : null;
}

/** Whether the two have the same words. */
export function isSameText(one: string, other: string): boolean {
  return normal(one) === normal(other);
}

/** A text as a single line, without control characters. */
export function asLine(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

const rowOf = (text: string, { by, at, id, foreign }: LineOrigin): string => {
  const said = [by, ...(foreign === true ? [FOREIGN] : []), at, ...(id === null ? [] : [`#${id}`])];
  return `${escapeComments(asLine(text))} ${comment(said.join(' '))}`;
};

const BULLET = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/;

const textOf = (row: string): string => asLine(unescapeComments(row.replace(BULLET, '')));

const normal = (text: string): string => asLine(text).toLowerCase();

const FOREIGN = 'foreign';

const ORIGIN = /^(user|model|record)( foreign)? (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?: #(\d{1,16}))?$/;

/** The origins given by comments at the ends of lines, by line index. */
function originsByLine(source: string): ReadonlyMap<number, LineOrigin> {
  const origins = new Map<number, LineOrigin>();
  let line = 0;
  let counted = 0;
  for (const { start, text } of commentsIn(source)) {
    line += source.slice(counted, start).split('\n').length - 1;
    counted = start;
    const [, author, foreign, at, id] = ORIGIN.exec(text) ?? [];
    const by = AUTHORS.find((known) => known === author);
    if (by !== undefined && at !== undefined) {
      const said = { by, at, id: id === undefined ? null : Number(id) };
      origins.set(line, foreign === undefined ? said : { ...said, foreign: true });
    }
  }
  return origins;
}

/**
 * The text without its comments. Their newlines stay, so that line numbers do not change. A comment that is never
 * closed is text.
 */
export function withoutComments(source: string): string {
  let text = '';
  let from = 0;
  for (const { start, end } of commentsIn(source)) {
    text += source.slice(from, start) + source.slice(start, end).replace(/[^\n]/g, '');
    from = end;
  }
  return text + source.slice(from);
}

/** A comment and its place in the source. */
export interface Comment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** All comments, in order. */
export function commentsIn(source: string): readonly Comment[] {
  const found: Comment[] = [];
  for (let end = 0; ; ) {
    const start = source.indexOf(OPEN, end);
    const close = start === -1 ? -1 : source.indexOf(CLOSE, start + OPEN.length);
    if (close === -1) return found;
    end = close + CLOSE.length;
    found.push({ start, end, text: source.slice(start + OPEN.length, close).trim() });
  }
}

/** The text with a backslash inserted wherever a comment would start. */
export function escapeComments(text: string): string {
  return text.replace(/<(\\*)!--/g, '<\\$1!--');
}

/** The text as it was before `escapeComments`. */
export function unescapeComments(text: string): string {
  return text.replace(/<\\(\\*)!--/g, '<$1!--');
}

/** The text with an unclosed comment escaped, so that a comment added later does not close it. */
export function withoutOpenComment(source: string): string {
  const end = commentsIn(source).at(-1)?.end ?? 0;
  return source.slice(0, end) + source.slice(end).replaceAll(OPEN, '<\\!--');
}

export function comment(text: string): string {
  return `${OPEN} ${text} ${CLOSE}`;
}

const OPEN = '<!--';
const CLOSE = '-->';

/** A fact that may be worth remembering, and whether it is partly based on text from tools, files or web pages. */
export interface OfferedFact extends Pick<Fact, 'kind' | 'text'> {
  readonly isForeign: boolean;
}

/**
 * The facts of the newest summary that may be worth remembering: preferences and decisions that are not in the memory
 * and were never offered.
 */
export function factsToReview(entries: readonly Entry[], source: string): readonly OfferedFact[] {
  const block = newestBlock(entries);
  const facts = stateOf(block).facts.filter(({ kind }) => kind === 'pref' || kind === 'decision');
  return notOffered(facts, source).map((fact) => ({
    ...fact,
    isForeign: block !== null && restOf(fact, block) === 'foreign',
  }));
}

/** Those of which the memory has no line, and which were never offered; of one text the first. */
export function notOffered<Offered extends Pick<Fact, 'text'>>(
  all: readonly Offered[],
  source: string,
): readonly Offered[] {
  const lines = linesOf(source);
  const seen = new Set(offeredIn(source));
  return all.filter(({ text }) => {
    const isNew = !seen.has(keyOf(text)) && !lines.some((line) => isSameText(line.text, text));
    seen.add(keyOf(text));
    return isNew;
  });
}

/**
 * The source with a note, which is not sent, that this fact was offered. The note holds only a hash: the user may have
 * declined to keep the text.
 */
export function withOffered(source: string, { text }: Pick<Fact, 'text'>): string {
  const offered = [...new Set([...offeredIn(source), keyOf(text)])];
  const note = comment(`${NOTE} ${offered.join(' ')}`);
  const before = commentsIn(source).find((one) => one.text.startsWith(`${NOTE} `));
  if (before !== undefined) return source.slice(0, before.start) + note + source.slice(before.end);
  const closed = withoutOpenComment(source);
  return `${closed}${closed === '' || closed.endsWith('\n') ? '' : '\n'}${note}\n`;
}

const NOTE = 'offered';

function offeredIn(source: string): ReadonlySet<string> {
  const notes = commentsIn(source).filter(({ text }) => text.startsWith(`${NOTE} `));
  return new Set(notes.flatMap(({ text }) => text.split(/\s+/).slice(1)));
}

const keyOf = (text: string): string =>
  createHash('sha256').update(asLine(text).toLowerCase()).digest('hex').slice(0, 12);
