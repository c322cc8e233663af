import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseObject } from '../../chat/json.js';
import { makeFolder } from '../../folder.js';
import { writeAside } from '../../write-aside.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { Offer } from './definition.js';

/** Another version writes another form. */
const VERSION = 2;

/** What each server offered when it was last asked, a file each, so that a start asks none. */
export class OfferCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The offer of this very entry; null where none is known. */
  read({ name, key }: ServerEntry): Offer | null {
    const stored = parseObject(this.#text(name));
    if (stored === null || stored.version !== VERSION || stored.key !== key || !isOffer(stored.offer)) return null;
    return stored.offer;
  }

  /** Keeps an offer. A folder that cannot be written costs the next start a question, and nothing else. */
  write({ name, key }: ServerEntry, offer: Offer): void {
    try {
      makeFolder(this.#folder, 0o700);
      writeAside(this.#path(name), JSON.stringify({ version: VERSION, key, offer }), { mode: 0o600, synced: false });
    } catch {
      // As above.
    }
  }

  remove(name: string): void {
    rmSync(this.#path(name), { force: true });
  }

  #text(name: string): string {
    try {
      return readFileSync(this.#path(name), 'utf8');
    } catch {
      return '';
    }
  }

  #path(name: string): string {
    return join(this.#folder, `${encodeURIComponent(name)}.json`);
  }
}

/** Whether a stored value is an offer. The file is hi's own: it may be cut off or from another version, but is not made to deceive. */
function isOffer(stored: unknown): stored is Offer {
  if (!isJsonObject(stored)) return false;
  const { tools, prompts, resources, templates, problems, instructions } = stored;
  return [tools, prompts, resources, templates, problems].every(Array.isArray) && typeof instructions === 'string';
}
