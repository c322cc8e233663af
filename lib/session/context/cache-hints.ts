import { type Entry, isMessage } from '../../chat/entry.js';
import type { CacheHints } from '../../chat/request.js';

/** How long vendors keep an unused cache entry, and how long for twice the price of writing it, in milliseconds. */
const SHORT_CACHE = 5 * 60_000;
const LONG_CACHE = 60 * 60_000;

/** How many of the last pauses decide, and how many of them must be such that only the long cache outlasts them. */
const PAUSES = 5;
const MOST = 3;

/**
 * The cache hints for a request of the turn `running` of the conversation `key`. They depend only on what was said until that turn began, so they are the
 * same for every request of it. One question after a longer pause does not pay for the long cache: the user has to ask like that as a rule.
 */
export function cacheHints(key: string | null, entries: readonly Entry[], running: number | null): CacheHints {
  const said = entries.filter(isMessage).filter(({ id }) => running === null || id <= running);
  const pauses: number[] = [];
  let asked: string | null = null;
  for (const { id, turn, role, at } of said.reverse()) {
    if (role === 'assistant' && asked !== null) {
      pauses.push(Date.parse(asked) - Date.parse(at));
      asked = null;
    }
    // The output of a local command before a question asks nothing.
    if (id === turn) asked ??= at;
    if (pauses.length === PAUSES) break;
  }
  const slow = pauses.filter((pause) => pause > SHORT_CACHE && pause <= LONG_CACHE);
  return { key, isSlow: slow.length >= MOST };
}
