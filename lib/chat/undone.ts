import type { Entry } from './message.js';

/** The turns that the user undid. */
export function undoneTurns(entries: readonly Entry[]): ReadonlySet<number> {
  const undone = new Set<number>();
  for (const entry of entries) {
    if (!('type' in entry) || entry.type !== 'undo') continue;
    for (const id of entry.turns) undone.add(id);
  }
  return undone;
}
