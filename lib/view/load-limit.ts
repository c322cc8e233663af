import { type Entry, isMessage } from '../chat/message.js';
import { charactersOf } from './size.js';

/** What a log is loaded with at most while no block stands for its older part. */
export interface LoadLimit {
  readonly messages: number;
  readonly characters: number;
}

/** Anthropic takes 100,000 messages in one request, the other vendors fewer, and no model reads more than ten million tokens. */
const LIMIT: LoadLimit = { messages: 100_000, characters: 40_000_000 };

/**
 * The id of the first entry worth loading of a log without a block: as much as any request could hold, from the beginning of a turn on. Null for an empty log.
 * A log that is longer is compacted before the next request, and what that leaves does not depend on older messages.
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
  // One turn is longer than the limit, or its last message is.
  return entries[Math.min(start, entries.length - 1)]?.id ?? null;
}
