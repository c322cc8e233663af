import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, readRegularFile, writeAside } from '../disk.js';
import { HiError, systemCode, systemReason } from '../errors.js';
import type { Fact } from '../view/block-state.js';
import {
  asLine,
  isSameText,
  type LineOrigin,
  lineNamed,
  linesOf,
  MEMORY_LIMIT,
  type MemoryLine,
  sentMemory,
  withLine,
  withLineReplaced,
  withOffered,
} from './memory-text.js';

/** A larger file is not read, because most of it would be left out. Bytes. */
const LARGEST = 1_000_000;

/** The result of a change: the line it replaced, if any, and the whole source before and after. */
export interface MemoryChange {
  readonly kind: 'added' | 'replaced' | 'known';
  readonly replaced: MemoryLine | null;
  readonly before: string;
  readonly after: string;
}

/**
 * The memory on disk: Markdown that the user reads and edits. Methods throw `HiError`s of code `config`, and of code
 * `usage` for text that cannot be added.
 */
export class MemoryFile {
  readonly path: string;
  readonly #exclusively: (work: () => void) => Promise<void>;

  /** `exclusively` runs work while no other process reads or writes the file. */
  constructor(path: string, exclusively: (work: () => void) => Promise<void>) {
    this.path = path;
    this.#exclusively = exclusively;
  }

  /** The whole file; empty if there is none. */
  read(): string {
    return readMemory(this.path);
  }

  /** What `keep` would do, without doing it. */
  preview(text: string, origin: LineOrigin, replaces: string | null = null): MemoryChange {
    return changeOf(this.path, this.read(), text, origin, replaces);
  }

  /** Adds a line, or replaces the one that `replaces` names. Does nothing if the line is already there. */
  async keep(text: string, origin: LineOrigin, replaces: string | null = null): Promise<MemoryChange> {
    return await this.#change(() => this.preview(text, origin, replaces));
  }

  /** Stores the user's edit of `original`, followed by lines that were added meanwhile. */
  async edit(original: string, edited: string): Promise<MemoryChange> {
    return await this.#change(() => {
      const before = this.read();
      const after = withAdded(original, before, edited === '' || edited.endsWith('\n') ? edited : `${edited}\n`);
      return { kind: 'replaced', replaced: null, before, after };
    });
  }

  /** Notes that a fact was offered, so that it is not offered again. */
  async noteOffered(fact: Pick<Fact, 'text'>): Promise<void> {
    await this.#change(() => {
      const before = this.read();
      return { kind: 'known', replaced: null, before, after: withOffered(before, fact) };
    });
  }

  async #change(plan: () => MemoryChange): Promise<MemoryChange> {
    let done: MemoryChange | null = null;
    await this.#exclusively(() => {
      done = plan();
      if (done.after !== done.before) write(this.path, done.after);
    });
    if (done === null) throw new Error('The memory was not changed.');
    return done;
  }
}

/** The text of the file at `path`; empty if there is none. Throws a `HiError` of code `config`. */
export function readMemory(path: string): string {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LARGEST) throw tooLarge(path, Math.ceil(size / 4));
    const bytes = readRegularFile(path);
    // Adding a line would corrupt a file that is not text.
    if (!isUtf8(bytes) || bytes.includes(0)) throw notText(path);
    return new TextDecoder().decode(bytes);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT') return '';
    if (code === null) throw cause;
    const reason = code === 'EFTYPE' ? 'Not a regular file' : systemReason(cause);
    throw new HiError('config', `${reason}: '${path}'.`, {
      hint: 'It must be a text file that you can read: hi sends it with every request.',
      cause,
    });
  }
}

function notText(path: string): HiError {
  return new HiError('config', `'${path}' is not text in UTF-8.`, { hint: 'Save it as UTF-8 in your editor.' });
}

function tooLarge(path: string, tokens: number): HiError {
  return new HiError('config', `'${path}' has about ${tokens} tokens; the limit is ${MEMORY_LIMIT}.`, {
    hint: 'Shorten it in your editor.',
  });
}

function changeOf(
  path: string,
  before: string,
  text: string,
  origin: LineOrigin,
  replaces: string | null,
): MemoryChange {
  const line = asLine(text);
  if (line === '') throw new HiError('usage', 'No text given for the memory.');
  const replaced = replaces === null ? null : lineNamed(before, replaces);
  if (replaces !== null && replaced === null) throw notThere(replaces);
  const known = linesOf(before).some((one) => one.line !== replaced?.line && isSameText(one.text, line));
  if (known || (replaced !== null && replaced.text === line)) return { kind: 'known', replaced, before, after: before };
  const after = replaced === null ? withLine(before, line, origin) : withLineReplaced(before, replaced, line, origin);
  const [old, { tokens }] = [sentMemory(before), sentMemory(after)];
  if (tokens > MEMORY_LIMIT && tokens > old.tokens) {
    throw new HiError(
      'usage',
      `The memory has ${old.tokens} tokens and would have ${tokens} with this line; the limit is ${MEMORY_LIMIT}.`,
      { hint: `Shorten it first: type /memory in the chat, or edit '${path}'.` },
    );
  }
  return { kind: replaced === null ? 'added' : 'replaced', replaced, before, after };
}

function notThere(text: string): HiError {
  return new HiError('usage', `The memory has no line with '${asLine(text)}', or more than one.`, {
    hint: 'Give the whole line, exactly as it is.',
  });
}

/** The edited text, followed by the lines that `current` has in addition to `original`. */
function withAdded(original: string, current: string, edited: string): string {
  if (current === original) return edited;
  const known = new Set(original.split('\n'));
  const added = current.split('\n').filter((row) => row !== '' && !known.has(row));
  return edited + added.map((row) => `${row}\n`).join('');
}

function write(path: string, source: string): void {
  try {
    makeFolder(dirname(path), 0o700);
    writeAside(path, source, { mode: 0o600, synced: true });
  } catch (cause) {
    throw new HiError('config', `Cannot write '${path}': ${systemReason(cause)}.`, {
      hint: 'Check the permissions of the file and its folder.',
      cause,
    });
  }
}

/** The source without some of its lines, and these lines. */
interface WithoutLines {
  readonly source: string;
  readonly lines: readonly string[];
}

/** Removes each line that `holds` a text, alone or together with the lines after it, and each that `isMeant`. */
export function withoutLines(
  source: string,
  holds: (text: string) => boolean,
  isMeant: (line: MemoryLine) => boolean,
): WithoutLines {
  const meant = new Set(linesOf(source).flatMap((line) => (isMeant(line) ? [line.line - 1] : [])));
  let gone: readonly string[] = [];
  let rows = source.split('\n').filter((row, index) => {
    const goes = meant.has(index) || holds(row);
    if (goes) gone = [...gone, row];
    return !goes;
  });
  while (rows.length > 0 && holds(rows.join('\n'))) {
    const [from, to] = narrowest(rows, holds);
    gone = [...gone, ...rows.slice(from, to)];
    rows = [...rows.slice(0, from), ...rows.slice(to)];
  }
  return { source: rows.join('\n'), lines: gone };
}

/** The first rows that together hold the text. */
function narrowest(rows: readonly string[], holds: (text: string) => boolean): readonly [from: number, to: number] {
  let to = 1;
  while (!holds(rows.slice(0, to).join('\n'))) to += 1;
  let from = to - 1;
  while (!holds(rows.slice(from, to).join('\n'))) from -= 1;
  return [from, to];
}
