import { type Entry, isMessage } from './entry.js';

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

/** The ids of these turns and of their messages, as far as these are among the entries. */
export function undoneIds(entries: readonly Entry[]): ReadonlySet<number> {
  const undone = undoneTurns(entries);
  const gone = entries.filter((entry) => isMessage(entry) && undone.has(entry.turn));
  return new Set([...undone, ...gone.map(({ id }) => id)]);
}
