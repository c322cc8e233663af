import { type Stats, statSync } from 'node:fs';
import type { Standing } from './standing-of.js';

const NOTHING: Standing = { text: null, warning: null };

/** The memory as requests have it. Where there is no file, each look costs one call of the system and loads nothing. */
export class StandingMemory {
  readonly #path: string;
  #known: { readonly version: string; readonly standing: Standing } | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** What is in the file now. Never fails: what cannot be read is a warning. */
  async read(): Promise<Standing> {
    const version = versionOf(this.#path);
    if (version === null) return NOTHING;
    if (this.#known?.version !== version) {
      const { standingOf } = await import('./standing-of.js');
      this.#known = { version, standing: standingOf(this.#path) };
    }
    return this.#known.standing;
  }
}

/** Another one after every change; null without a file. */
function versionOf(path: string): string | null {
  try {
    const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
  } catch {
    // Reading it says why.
    return 'unknown';
  }
}
