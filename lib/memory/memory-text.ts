import { asTokens, estimateTokens, type Tokens } from '../chat/tokens.js';
import {
  comment,
  commentsIn,
  escapeComments,
  unescapeComments,
  withoutComments,
  withoutOpenComment,
} from './comments.js';

/** The most that is sent of the memory. */
export const MEMORY_LIMIT = asTokens(1000);

/** Who said a line: the user, the model, whose proposal the user accepted, or the record of a summary, one of whose facts the user kept. */
export const AUTHORS = ['user', 'model', 'record'] as const;

/** Where a line comes from. */
export interface LineOrigin {
  readonly by: (typeof AUTHORS)[number];
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The newest message of the conversation at that time; null when there was none. */
  readonly id: number | null;
  /** True where it rests on words of tools, files or pages as well. */
  readonly foreign?: true;
}

/** A line of the memory as it is sent, without its bullet. */
export interface MemoryLine {
  /** Its number in the file, from 1. */
  readonly line: number;
  readonly text: string;
  /** Null for what was written by hand. */
  readonly origin: LineOrigin | null;
}

/** The lines that are not empty, with where they come from. */
export function linesOf(source: string): readonly MemoryLine[] {
  const origins = originsByLine(source);
  return withoutComments(source)
    .split('\n')
    .flatMap((row, index) => {
      const text = textOf(row);
      return text === '' ? [] : [{ line: index + 1, text, origin: origins.get(index) ?? null }];
    });
}

/** What is sent of a file, and how large all of it is. */
export interface SentMemory {
  readonly text: string;
  /** The estimate for the whole file, without its comments. */
  readonly tokens: Tokens;
  /** The number of the first line beyond the limit, which is left out with all that follow; null when everything is sent. */
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

/** What is sent, row by row: no comments, no empty rows at the start, and no more than one between two others. */
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

/** The source with another text in one of its lines. The bullet and the place stay. */
export function withLineReplaced(source: string, { line }: MemoryLine, text: string, origin: LineOrigin): string {
  const rows = withoutOpenComment(source).split('\n');
  const row = rows[line - 1] ?? '';
  rows[line - 1] = `${BULLET.exec(row)?.[0] ?? ''}${rowOf(text, origin)}${row.endsWith('\r') ? '\r' : ''}`;
  return rows.join('\n');
}

/** The line that a text names: that very line, or the only one that contains it. Null where there is none or more than one. */
export function lineNamed(source: string, text: string): MemoryLine | null {
  const lines = linesOf(source);
  const wanted = textOf(text);
  const exact = lines.find((line) => isSameText(line.text, wanted));
  if (exact !== undefined || wanted === '') return exact ?? null;
  const containing = lines.filter((line) => normal(line.text).includes(normal(wanted)));
  return containing.length === 1 ? (containing[0] ?? null) : null;
}

/** True where the two say the same in the same words. */
export function isSameText(one: string, other: string): boolean {
  return normal(one) === normal(other);
}

/** A text as a line: on one row, without control characters. */
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

/** What the comments say of the lines that they end, by the index of the line. */
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
