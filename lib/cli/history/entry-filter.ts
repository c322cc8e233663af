import { type Entry, isMessage } from '../../chat/entry.js';
import type { Message } from '../../chat/message.js';
import { HiError } from '../../errors.js';

/** The filter options of the command line. */
export interface FilterOptions {
  readonly since?: string;
  readonly until?: string;
  readonly role?: Message['role'];
}

/** Which entries are printed. */
export interface EntryFilter {
  readonly from: Date | null;
  readonly until: Date | null;
  readonly role: Message['role'] | null;
}

/** Lets everything pass. */
export const EVERYTHING: EntryFilter = { from: null, until: null, role: null };

/** The filter given on the command line, null if everything is printed. Throws a `HiError` of code `usage`. */
export async function filterOf({ since, until, role }: FilterOptions, now: Date): Promise<EntryFilter | null> {
  if (since === undefined && until === undefined && role === undefined) return null;
  const { parseTime } = await import('../../recall/show/when.js');
  const filter = {
    from: since === undefined ? null : parseTime(since, now, false),
    until: until === undefined ? null : parseTime(until, now, true),
    role: role ?? null,
  };
  if (filter.from !== null && filter.until !== null && filter.from > filter.until)
    throw new HiError('usage', `--since '${since}' is later than --until '${until}'.`, { hint: 'Swap the two.' });
  return filter;
}

/** Whether an entry is printed. Entries without a time match no time range. */
export function passes(entry: Entry, { from, until, role }: EntryFilter): boolean {
  if (role !== null && !(isMessage(entry) && entry.role === role)) return false;
  const at = Date.parse(entry.at);
  return (from === null || at >= from.getTime()) && (until === null || at <= until.getTime());
}

/** The entries that pass, all of them or the last of them. */
export async function* filtered(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  filter: EntryFilter,
  last: number | null,
): AsyncGenerator<Entry> {
  const kept: Entry[] = [];
  for await (const entry of entries) {
    if (!passes(entry, filter)) continue;
    if (last === null) yield entry;
    else if (kept.push(entry) > last) kept.shift();
  }
  yield* kept;
}
