import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { HiError, systemCode, systemReason } from '../errors.js';
import { makeFolder } from '../folder.js';
import { readRegularFile } from '../regular-file.js';
import type { Fact } from '../view/block-state.js';
import { writeAside } from '../write-aside.js';
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
} from './memory-text.js';
import { withOffered } from './review.js';

/** A larger file is not read: nearly all of it would be left out. Bytes. */
const LARGEST = 1_000_000;

/** What a change did: the line that was there before, if one was, and the whole source before and after. */
export interface MemoryChange {
  readonly kind: 'added' | 'replaced' | 'known';
  readonly replaced: MemoryLine | null;
  readonly before: string;
  readonly after: string;
}

/** The memory on disk: Markdown that the user reads and edits. Everything throws `HiError`s of code `config`, and of `usage` for what cannot be added. */
export class MemoryFile {
  readonly path: string;
  readonly #exclusively: (work: () => void) => Promise<void>;

  /** `exclusively` runs what reads and writes while no other process does. */
  constructor(path: string, exclusively: (work: () => void) => Promise<void>) {
    this.path = path;
    this.#exclusively = exclusively;
  }

  /** The whole file; empty when there is none. */
  read(): string {
    return readMemory(this.path);
  }

  /** What `keep` would do, without doing it. */
  preview(text: string, origin: LineOrigin, replaces: string | null = null): MemoryChange {
    return changeOf(this.path, this.read(), text, origin, replaces);
  }

  /** Adds a line, in place of the one that `replaces` names if it is given. Nothing changes where the line is there already. */
  async keep(text: string, origin: LineOrigin, replaces: string | null = null): Promise<MemoryChange> {
    return await this.#change(() => this.preview(text, origin, replaces));
  }

  /** Stores what the user made of `original`, and after it the lines that were added meanwhile. */
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

/** The text of the file at `path`; empty where there is none. Throws a `HiError` of code `config`. */
export function readMemory(path: string): string {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LARGEST) throw tooLarge(path, Math.ceil(size / 4));
    const bytes = readRegularFile(path);
    // What is not text would be changed by the next line that is kept.
    if (!isUtf8(bytes) || bytes.includes(0)) throw notText(path);
    return new TextDecoder().decode(bytes);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT') return '';
    if (code === null) throw cause;
    const reason = code === 'EFTYPE' ? 'Not a regular file' : systemReason(cause);
    throw new HiError('config', `${reason}: '${path}'.`, {
      hint: 'It holds what hi always keeps in view. Make it a text file that you can read.',
      cause,
    });
  }
}

function notText(path: string): HiError {
  return new HiError('config', `'${path}' is not text in UTF-8.`, { hint: 'Save it as UTF-8 in your editor.' });
}

function tooLarge(path: string, tokens: number): HiError {
  return new HiError('config', `'${path}' has about ${tokens} tokens, and ${MEMORY_LIMIT} is the most.`, {
    hint: 'Shorten it.',
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
  if (line === '') throw new HiError('usage', 'There is no text to keep.');
  const replaced = replaces === null ? null : lineNamed(before, replaces);
  if (replaces !== null && replaced === null) throw notThere(replaces);
  const known = linesOf(before).some((one) => one.line !== replaced?.line && isSameText(one.text, line));
  if (known || (replaced !== null && replaced.text === line)) return { kind: 'known', replaced, before, after: before };
  const after = replaced === null ? withLine(before, line, origin) : withLineReplaced(before, replaced, line, origin);
  const [old, { tokens }] = [sentMemory(before), sentMemory(after)];
  if (tokens > MEMORY_LIMIT && tokens > old.tokens) {
    throw new HiError(
      'usage',
      `The memory has ${old.tokens} tokens and would have ${tokens} with this line; ${MEMORY_LIMIT} is the most.`,
      { hint: `Shorten it first: /memory in the chat, or any editor opens '${path}'.` },
    );
  }
  return { kind: replaced === null ? 'added' : 'replaced', replaced, before, after };
}

function notThere(text: string): HiError {
  return new HiError('usage', `No line of the memory, or more than one, has '${asLine(text)}'.`, {
    hint: 'Give the whole line as it is.',
  });
}

/** The edited text, with the lines that `current` has beyond `original` at its end. */
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
