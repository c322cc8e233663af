import { appendFileSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../folder.js';
import { writeAside } from '../write-aside.js';
import type { InputList } from './history-cursor.js';

/** What was entered at the prompt, this time and earlier times. */
export interface InputHistory extends InputList {
  /** Remembers an input as the newest; the same one entered before moves here. */
  add(text: string): void;
}

/** What is kept from day to day: the newest inputs, so many at most, and together no more characters than are read in a moment. */
const MOST = 2000;
const MOST_CHARACTERS = 16_000_000;

/**
 * The inputs kept in that file, one JSON string a line. The file is read when the first input is recalled. Where there is none (null), or it
 * cannot be read or written, the inputs of this session are all there is: a recall is not worth an error in the middle of a conversation.
 */
export function openInputHistory(file: string | null): InputHistory {
  let earlier: readonly string[] | null = null;
  let now: string[] = [];
  let known: readonly string[] | null = null;

  return {
    entries() {
      earlier ??= file === null ? [] : readEarlier(file, now);
      known ??= withoutRepeats([...earlier, ...now]);
      return known;
    },
    add(text) {
      if (now.at(-1) === text) return;
      now = [...now.filter((entry) => entry !== text), text];
      known = null;
      if (file !== null) append(file, `${JSON.stringify(text)}\n`);
    },
  };
}

function readEarlier(file: string, now: readonly string[]): readonly string[] {
  const lines = readLines(file);
  const entries = newest(withoutRepeats(lines.flatMap(parseLine)));
  if (lines.length > 2 * MOST || sizeOf(lines) > 2 * MOST_CHARACTERS) rewrite(file, entries);
  const ours = new Set(now);
  return entries.filter((entry) => !ours.has(entry));
}

/** The newest one is in whatever its size. */
function newest(entries: readonly string[]): readonly string[] {
  let size = 0;
  const tooMuch = entries.findLastIndex((entry) => {
    size += entry.length;
    return size > MOST_CHARACTERS;
  });
  return entries.slice(Math.min(Math.max(tooMuch + 1, entries.length - MOST), Math.max(0, entries.length - 1)));
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((size, line) => size + line.length, 0);

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function parseLine(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'string' ? [value] : [];
  } catch {
    return [];
  }
}

/** Each text once, where it was last. */
function withoutRepeats(entries: readonly string[]): readonly string[] {
  return [...new Set([...entries].reverse())].reverse();
}

/** One write, so that several `hi` at once do not mix their lines. */
function append(file: string, line: string): void {
  try {
    makeFolder(dirname(file), 0o700);
    appendFileSync(file, line, { mode: 0o600 });
  } catch {}
}

function rewrite(file: string, entries: readonly string[]): void {
  try {
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    writeAside(file, lines, { mode: 0o600, synced: false });
  } catch {}
}
