import type { Entry } from '../../chat/entry.js';

/** Those entries of all groups that `keeps` is true for. */
export function* filterEntries(groups: Iterable<readonly Entry[]>, keeps: (entry: Entry) => boolean): Generator<Entry> {
  for (const entries of groups) yield* entries.filter(keeps);
}

/** The entries of all groups, one by one. */
export function* flattenEntries(groups: Iterable<readonly Entry[]>): Generator<Entry> {
  for (const entries of groups) yield* entries;
}
