import { type CompressBlock, type Entry, isCompressBlock, isMessage } from './entry.js';

/** What is known about a conversation before its first entry is read: how many compactions it has, and its newest entries. */
interface Overview {
  readonly totals: { readonly compactions: number };
  readonly entries: readonly Entry[];
}

/**
 * Yields the entries in the order people read them: each compaction comes between the last message it replaced and the first one it kept, although it
 * was written after both. Entries are read once and yielded as soon as it is certain that no compaction belongs before them.
 */
export async function* inReadingOrder(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { totals, entries: newest }: Overview,
): AsyncGenerator<Entry> {
  const waiting = newest.filter(isPlaced);
  const known = new Set(newest.filter(isCompressBlock).map(({ id }) => id));
  let unknown = totals.compactions - known.size;
  // Entries that a later compaction may have kept. A compaction never keeps what an earlier one replaced, so each one releases all entries before its place.
  let undecided: Entry[] = [];
  for await (const entry of entries) {
    if (!isPlaced(entry)) undecided.push(entry);
    if (isCompressBlock(entry) && !known.has(entry.id)) {
      unknown -= 1;
      if (isPlaced(entry)) {
        const place = undecided.findIndex((one) => isMessage(one) && follows(one.id, entry));
        yield* withBlocks(undecided.splice(0, place === -1 ? undecided.length : place), waiting);
        waiting.push(entry);
        waiting.sort((one, other) => one.id - other.id);
      }
    }
    if (unknown > 0) continue;
    yield* withBlocks(undecided, waiting);
    undecided = [];
  }
  yield* withBlocks(undecided, waiting);
  yield* waiting;
}

/** Whether an entry is moved to its reading position. A block that takes a compaction back stays where it was written. */
function isPlaced(entry: Entry): entry is CompressBlock {
  return isCompressBlock(entry) && entry.restores === undefined;
}

/** Yields the entries, and before each message the waiting blocks that belong there, which are then removed from `waiting`. */
function* withBlocks(entries: readonly Entry[], waiting: CompressBlock[]): Generator<Entry> {
  for (const entry of entries) {
    while (isMessage(entry) && waiting[0] !== undefined && follows(entry.id, waiting[0])) yield* waiting.splice(0, 1);
    yield entry;
  }
}

/** The first message a block kept may be gone, or older than what is read. The block then comes before the next message. */
function follows(id: number, block: CompressBlock): boolean {
  return id >= (block.first_kept ?? block.id);
}
