import { type Entry, isMessage } from '../chat/entry.js';
import { charactersOf } from './size.js';

/** The most that is loaded of a log whose older part is not summarised. */
export interface LoadLimit {
  readonly messages: number;
  readonly characters: number;
}

/** Anthropic accepts 100,000 messages in a request, other vendors fewer, and no model reads more than ten million tokens. */
const LIMIT: LoadLimit = { messages: 100_000, characters: 40_000_000 };

/**
 * The id of the first entry to load from a log without a block: as much as any request could hold, from the start of a turn. Null for an empty log.
 * A longer log is compacted before the next request, and the result does not depend on older messages.
 */
export function loadedFrom(entries: readonly Entry[], limit: LoadLimit = LIMIT): number | null {
  let { messages, characters } = limit;
  let start = 0;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry === undefined || !isMessage(entry)) continue;
    messages -= 1;
    characters -= charactersOf(entry);
    if (messages >= 0 && characters >= 0) continue;
    start = index + 1;
    break;
  }
  if (start === 0) return entries[0]?.id ?? null;
  for (let index = start; index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry && isMessage(entry) && entry.turn === entry.id) return entry.id;
  }
  // A single turn, or its last message, exceeds the limit.
  return entries[Math.min(start, entries.length - 1)]?.id ?? null;
}
