import { type Stats, statSync } from 'node:fs';
import type { Standing } from './standing-of.js';
import { standingOf } from './standing-of.js';

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
