import { type Stats, statSync } from 'node:fs';
import { asHiError } from '../errors.js';
import { readMemory } from './memory-file.js';
import { MEMORY_LIMIT, sentMemory } from './memory-text.js';

/** The part of every request that comes from `memory.md`. */
export interface Standing {
  /** What is sent; null for nothing. */
  readonly text: string | null;
  /** Why the file is not sent in full; null if it is. */
  readonly warning: string | null;
}

const LABEL = 'The user wants this always kept in mind:';

/** The part of the file at `path` that is sent. */
function standingOf(path: string): Standing {
  try {
    const { text, tokens, leftOutFrom } = sentMemory(readMemory(path));
    return {
      text: text === '' ? null : `${LABEL}\n\n${text}`,
      warning: leftOutFrom === null ? null : tooMuch(path, tokens, leftOutFrom),
    };
  } catch (thrown) {
    const { message } = asHiError(thrown);
    return { text: null, warning: `${message} None of it is sent.` };
  }
}

const tooMuch = (path: string, tokens: number, line: number): string =>
  `'${path}' has ${tokens} tokens, more than ${MEMORY_LIMIT}: line ${line} and everything after it is not sent. To shorten it, type: /memory`;

const NOTHING: Standing = { text: null, warning: null };

/** The memory as sent with requests. Without a file, each read costs one system call and loads nothing. */
export class StandingMemory {
  readonly #path: string;
  #known: { readonly version: string; readonly standing: Standing } | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** The current content. Never fails: a file that cannot be read yields a warning. */
  async read(): Promise<Standing> {
    const version = versionOf(this.#path);
    if (version === null) return NOTHING;
    if (this.#known?.version !== version) {
      this.#known = { version, standing: standingOf(this.#path) };
    }
    return this.#known.standing;
  }
}

/** Differs after every change; null without a file. */
function versionOf(path: string): string | null {
  try {
    const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
  } catch {
    // Reading it reports why.
    return 'unknown';
  }
}
