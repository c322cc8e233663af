import type { Entry } from './entry.js';
import { wellFormedJson } from './json.js';

/** The stored JSON of entries that this version reads in a different form. */
const ORIGINALS = new WeakMap<Entry, string>();

/** Remembers the stored JSON of an entry that this version cannot read as it is. Returns the entry. */
export function rememberOriginal<Kind extends Entry>(entry: Kind, text: string): Kind {
  ORIGINALS.set(entry, text);
  return entry;
}

/** The stored JSON of an entry where it differs from the entry itself, else null. */
export function originalText(entry: Entry): string | null {
  return ORIGINALS.get(entry) ?? null;
}

/** An entry as JSON without lone surrogates, with everything that a later version or another program wrote into it. */
export function storedText(entry: Entry): string {
  return wellFormedJson(ORIGINALS.get(entry) ?? JSON.stringify(entry));
}

/** An entry as it reads after it was stored: the entries in memory must not differ from those in the file. */
export function asStored<Kind extends Entry>(entry: Kind): Kind {
  return isWellFormed(entry) ? entry : JSON.parse(wellFormedJson(JSON.stringify(entry)));
}

/** Whether no text in a value has a lone surrogate. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => isWellFormed(key) && isWellFormed(part));
}
