import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../folder.js';
import { readRegularFile, requireRegularFile } from '../regular-file.js';
import { writeAside } from '../write-aside.js';
import type { InputList } from './editing/history-cursor.js';

/** Limits of the file, in inputs and in characters, so that reading it causes no delay. The newest inputs are kept. */
const MAX_ENTRIES = 2000;
const MAX_CHARACTERS = 16_000_000;

/**
 * The inputs of this session and of earlier ones, which are in a file with one JSON string per line. The file is read at the first recall.
 * Without a file (null), or if it cannot be read or written, only this session's inputs are recalled: recall is not worth an error in the
 * middle of a conversation.
 */
export class InputHistory implements InputList {
  readonly #file: string | null;
  readonly #keeps: () => boolean;
  #session: string[] = [];
  #saved: readonly string[] | null = null;
  /** Both lists merged; null until needed. */
  #merged: readonly string[] | null = null;

  /** While `keeps` returns false, inputs are recalled in this session but not written. */
  constructor(file: string | null, keeps: () => boolean = () => true) {
    this.#file = file;
    this.#keeps = keeps;
  }

  entries(): readonly string[] {
    this.#saved ??= this.#file === null ? [] : readSaved(this.#file, this.#session);
    this.#merged ??= withoutRepeats([...this.#saved, ...this.#session]);
    return this.#merged;
  }

  /** Adds an input as the newest. An earlier one with the same text is dropped. */
  add(text: string): void {
    if (this.#session.at(-1) === text) return;
    this.#session = [...this.#session.filter((entry) => entry !== text), text];
    this.#merged = null;
    if (this.#file !== null && this.#keeps()) append(this.#file, `${JSON.stringify(text)}\n`);
  }
}

/** The inputs in the file without those of this session. */
function readSaved(file: string, session: readonly string[]): readonly string[] {
  const lines = readLines(file);
  const entries = newest(withoutRepeats(lines.flatMap(parseLine)));
  if (lines.length > 2 * MAX_ENTRIES || sizeOf(lines) > 2 * MAX_CHARACTERS) rewrite(file, entries);
  const known = new Set(session);
  return entries.filter((entry) => !known.has(entry));
}

/** The newest entries within both limits. The very newest is always kept. */
function newest(entries: readonly string[]): readonly string[] {
  let size = 0;
  const oldestDropped = entries.findLastIndex((entry) => {
    size += entry.length;
    return size > MAX_CHARACTERS;
  });
  return entries.slice(
    Math.min(Math.max(oldestDropped + 1, entries.length - MAX_ENTRIES), Math.max(0, entries.length - 1)),
  );
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((size, line) => size + line.length, 0);

function readLines(file: string): readonly string[] {
  try {
    return readRegularFile(file).toString().split('\n');
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

/** Each text once, at its last position. */
function withoutRepeats(entries: readonly string[]): readonly string[] {
  return [...new Set([...entries].reverse())].reverse();
}

/** A single write, so that the lines of concurrent processes do not mix. */
function append(file: string, line: string): void {
  try {
    makeFolder(dirname(file), 0o700);
    requireRegularFile(file);
    appendFileSync(file, line, { mode: 0o600 });
  } catch {}
}

function rewrite(file: string, entries: readonly string[]): void {
  try {
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    writeAside(file, lines, { mode: 0o600, synced: false });
  } catch {}
}
