import { type CompressBlock, type Entry, isCompressBlock, isMessage } from './message.js';

/** What is known of a conversation before its first entry is read: how many compactions it has, and its newest entries. */
interface Known {
  readonly totals: { readonly compactions: number };
  readonly entries: readonly Entry[];
}

/**
 * The entries as people read them: each compaction stands between the messages it took away and the first one it kept, though it was written after both.
 * They are read once and passed on as soon as it is certain that no compaction belongs before them.
 */
export async function* inReadingOrder(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { totals, entries: newest }: Known,
): AsyncGenerator<Entry> {
  const waiting = newest.filter(isCompressBlock);
  const known = new Set(waiting.map(({ id }) => id));
  let unknown = totals.compactions - known.size;
  // What a compaction that is still to come may have kept. None keeps what an earlier one took away, so each lets go of all before its place.
  let held: Entry[] = [];
  for await (const entry of entries) {
    if (!isCompressBlock(entry)) held.push(entry);
    else if (!known.has(entry.id)) {
      unknown -= 1;
      const place = held.findIndex((one) => isMessage(one) && follows(one.id, entry));
      yield* withBlocks(held.splice(0, place === -1 ? held.length : place), waiting);
      waiting.push(entry);
      waiting.sort((one, other) => one.id - other.id);
    }
    if (unknown > 0) continue;
    yield* withBlocks(held, waiting);
    held = [];
  }
  yield* withBlocks(held, waiting);
  yield* waiting;
}

/** The entries, and before each message the waiting blocks it follows, which wait no longer. */
function* withBlocks(entries: readonly Entry[], waiting: CompressBlock[]): Generator<Entry> {
  for (const entry of entries) {
    while (isMessage(entry) && waiting[0] !== undefined && follows(entry.id, waiting[0])) yield* waiting.splice(0, 1);
    yield entry;
  }
}

/** What a block kept first may be gone from the archive, or older than what is read: then it stands before the next message there is. */
function follows(id: number, block: CompressBlock): boolean {
  return id >= (block.first_kept ?? block.id);
}
