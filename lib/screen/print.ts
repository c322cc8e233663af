import type { ChatEventOf } from '../chat/event.js';
import type { HiError } from '../errors.js';
import { monotonic, type Wait } from '../waits.js';
import { neutralise } from './text/neutralise.js';
import { LONGEST_ROW, textWidth } from './text/styled-text.js';

/**
 * An error as shown to the user: what happened, and below it what to do. It is neutralised, because it may quote
 * servers and files.
 */
export function errorText(error: HiError): string {
  const hint = error.hint === null ? '' : `\n    ${error.hint.replaceAll('\n', '\n    ')}`;
  return neutralise(`hi: ${error.message}${hint}`);
}

/** A duration in short form: 0.4s, 3s, 2m 05s. */
export function shortTime(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return `${seconds.toFixed(1)}s`;
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  return `${Math.floor(seconds / 60)}m ${String(Math.floor(seconds % 60)).padStart(2, '0')}s`;
}

/** What the program waits for and since when, on one line. It stays the same where nothing may be redrawn. */
export function waitText({ what, since, at, mayAsk }: Wait): string {
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0'));
  const shown = neutralise(what);
  return mayAsk
    ? `waiting since ${clock.join(':')} for ${shown}`
    : `waiting for ${shown} · ${shortTime(monotonic() - since)}`;
}

/** Which skills were loaded and dropped: `skills: +review -deploy`. */
export function skillsLine({ loaded, dropped }: ChatEventOf<'skills'>): string {
  return `skills: ${[...loaded.map((name) => `+${name}`), ...dropped.map((name) => `-${name}`)].join(' ')}`;
}

/** A longer quoted text may be wrapped, in characters. */
const LONGEST_QUOTE = 60;

/** Continuation rows start at the second column of a list only if that leaves enough room. */
const LARGEST_SHARE = 0.5;

/**
 * Wraps the lines of messages from hi itself at words. Continuation rows are indented like the line, or start at its
 * second column if it has two, separated by spaces. A word longer than a row is not split. Neither is a short text in
 * quotes, which may be a path or a command to copy.
 */
export function wrapLines(text: string, columns: number): string {
  const width = Math.min(LONGEST_ROW, columns);
  return text
    .split('\n')
    .map((line) => (textWidth(line) <= width ? line : wrapLine(line, width)))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const indent = indentOf(line, width);
  const start = /^ */.exec(line)?.[0] ?? '';
  const rows: string[] = [];
  let row = start;
  for (const word of wordsOf(line.slice(start.length))) {
    const text = word.trimStart();
    if (row.length > indent.length && textWidth(row) + textWidth(word) > width) {
      rows.push(row);
      row = indent + text;
    } else row += word;
  }
  return [...rows, row].join('\n');
}

/** The words of a line, each with the spaces before it. A short text in quotes counts as one word. */
function wordsOf(line: string): readonly string[] {
  let words: readonly string[] = [];
  let quoted: string[] = [];
  for (const word of line.split(/(?<=\S)(?= )/)) {
    quoted.push(word);
    const whole = quoted.join('');
    const isOpen = /^ *'[^ ']/.test(whole) && !whole.trimStart().slice(1).includes("'");
    if (isOpen && whole.length < LONGEST_QUOTE) continue;
    words = words.concat(isOpen ? quoted : [whole]);
    quoted = [];
  }
  return [...words, ...quoted];
}

function indentOf(line: string, width: number): string {
  const column = /^ *\S+(?: \S+)* {2,}(?=\S)/.exec(line)?.[0].length ?? /^ */.exec(line)?.[0].length ?? 0;
  return ' '.repeat(column > width * LARGEST_SHARE ? 0 : column);
}
