import { wellFormedJson } from './json.js';
import type { Entry } from './message.js';

/** Entries that are shown in another form than they were stored in, and how they were stored. */
const CARRIED = new WeakMap<Entry, string>();

/** Remembers that an entry stands for another JSON text, which this version cannot show as it is. */
export function carry<Kind extends Entry>(entry: Kind, text: string): Kind {
  CARRIED.set(entry, text);
  return entry;
}

/** The text an entry stands for when that is not the entry itself, else null. */
export function carriedText(entry: Entry): string | null {
  return CARRIED.get(entry) ?? null;
}

/** An entry as JSON without lone surrogates, with all that a later version or another program wrote into it. */
export function storedText(entry: Entry): string {
  return wellFormedJson(CARRIED.get(entry) ?? JSON.stringify(entry));
}

/** An entry as it reads when it was stored: what memory holds and what the file holds must not differ. */
export function asStored<Kind extends Entry>(entry: Kind): Kind {
  const text = JSON.stringify(entry);
  const stored = wellFormedJson(text);
  return stored === text ? entry : JSON.parse(stored);
}
