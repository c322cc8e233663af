import type { Entry } from './entry.js';

/** The turns that the user undid and did not redo. */
export function undoneTurns(entries: readonly Entry[]): ReadonlySet<number> {
  const undone = new Set<number>();
  for (const entry of entries) {
    if (!('type' in entry)) continue;
    if (entry.type === 'undo') for (const id of entry.turns) undone.add(id);
    else if (entry.type === 'redo') for (const id of entry.turns) undone.delete(id);
  }
  return undone;
}
