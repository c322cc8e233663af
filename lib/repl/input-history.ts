import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Key } from 'node:readline';
import { makeFolder, readRegularFile, requireRegularFile, writeAside } from '../disk.js';
import { isPrintable } from './editing/key-bindings.js';
import type { InputList } from './editing/line-editor.js';

/** Limits of the file, in inputs and in characters, so that reading it causes no delay. The newest inputs are kept. */
const MAX_ENTRIES = 2000;
const MAX_CHARACTERS = 16_000_000;

/**
 * The inputs of this session and of earlier ones, which are in a file with one JSON string per line. The file is read
 * at the first recall. Without a file (null), or if it cannot be read or written, only this session's inputs are
 * recalled: recall is not worth an error in the middle of a conversation.
 */
export class InputHistory implements InputList {
  readonly #file: string | null;
  readonly #isKept: () => boolean;
  #session: string[] = [];
  /** The inputs of this session that were never sent. */
  readonly #drafts = new Set<string>();
  #saved: readonly string[] | null = null;
  /** Both lists merged; null until needed. */
  #merged: readonly string[] | null = null;

  /** While `isKept` returns false, inputs are recalled in this session but not written. */
  constructor(file: string | null, isKept: () => boolean = () => true) {
    this.#file = file;
    this.#isKept = isKept;
  }

  entries(): readonly string[] {
    this.#saved ??= this.#file === null ? [] : readSaved(this.#file, this.#session);
    this.#merged ??= withoutRepeats([...this.#saved, ...this.#session]);
    return this.#merged;
  }

  /** Adds an input as the newest. An earlier one with the same text is dropped. */
  add(text: string): void {
    const wasDraft = this.#drafts.delete(text);
    if (this.#session.at(-1) === text && !wasDraft) return;
    this.#session = [...this.#session.filter((entry) => entry !== text), text];
    this.#merged = null;
    if (this.#file !== null && this.#isKept()) append(this.#file, `${JSON.stringify(text)}\n`);
  }

  /** Adds a line that was cleared, in this session only: it may have been a slip that should not be kept. */
  addDraft(text: string): void {
    if (this.entries().includes(text)) return;
    this.#drafts.add(text);
    this.#session = [...this.#session, text];
    this.#merged = null;
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

/** What a key did to a search. `take`: edit the match. `send`: submit the match. `cancel`: restore the line. */
type SearchOutcome = 'continue' | 'take' | 'send' | 'cancel';

/** A search through earlier inputs, newest first, like Ctrl-R in a shell. */
export class HistorySearch {
  readonly #entries: readonly string[];
  readonly #enter: 'take' | 'send';
  #query = '';
  #index: number;

  /** Takes the inputs oldest first, and what Enter does with the match: in vi's normal mode it is not sent yet. */
  constructor(entries: readonly string[], enter: 'take' | 'send' = 'send') {
    this.#entries = entries;
    this.#enter = enter;
    this.#index = entries.length;
  }

  /** Replaces the prompt during the search. */
  prompt(): string {
    return `(${this.#query !== '' && this.match() === null ? 'no match' : 'search'}) ${this.#query}: `;
  }

  /** The input found; null when there is none. */
  match(): string | null {
    const entry = this.#entries[this.#index];
    return this.#query === '' || !includes(entry, this.#query) ? null : (entry ?? null);
  }

  key(text: string, key: Key): SearchOutcome {
    const name = `${key.ctrl ? 'C-' : ''}${key.name ?? ''}`;
    const isFound = this.match() !== null;
    if (name === 'return') return isFound ? this.#enter : 'cancel';
    if (name === 'C-c' || name === 'C-g' || name === 'escape') return 'cancel';
    if (name === 'C-r') this.#find(this.#index - 1, -1);
    else if (name === 'C-s') this.#find(this.#index + 1, 1);
    else if (name === 'backspace' || name === 'C-h') this.#search(this.#query.slice(0, -1));
    else if (isPrintable(text, key)) this.#search(this.#query + text);
    else return isFound ? 'take' : 'cancel';
    return 'continue';
  }

  /** Searches from the current match to older inputs, then from the newest. */
  #search(query: string): void {
    this.#query = query;
    const newest = this.#entries.length - 1;
    const from = Math.min(this.#index, newest);
    this.#index = this.#entries.length;
    this.#find(from, -1);
    if (this.#index === this.#entries.length) this.#find(newest, -1);
  }

  /** Moves to the nearest match in that direction, if there is one. */
  #find(from: number, step: 1 | -1): void {
    for (let index = from; index >= 0 && index < this.#entries.length; index += step) {
      if (!includes(this.#entries[index], this.#query)) continue;
      this.#index = index;
      return;
    }
  }
}

/** A query with a capital letter is case-sensitive (smart case). */
function includes(entry: string | undefined, query: string): boolean {
  if (entry === undefined) return false;
  return /\p{Lu}/u.test(query) ? entry.includes(query) : entry.toLowerCase().includes(query);
}
