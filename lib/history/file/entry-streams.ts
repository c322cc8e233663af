import type { Entry } from '../../chat/entry.js';

/** The entries after `change`, which returns null to drop one. */
export function* changedEntries(entries: Iterable<Entry>, change: (entry: Entry) => Entry | null): Generator<Entry> {
  for (const entry of entries) {
    const changed = change(entry);
    if (changed !== null) yield changed;
  }
}

/** The entries of all groups, one by one. */
export function* flattenEntries(groups: Iterable<readonly Entry[]>): Generator<Entry> {
  for (const entries of groups) yield* entries;
}
