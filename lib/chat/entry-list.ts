import { crc32 } from 'node:zlib';
import { type CompressBlock, type Entry, isCompressBlock, isMessage } from './entry.js';
import type { Message, Part, SkillRecord } from './message.js';

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

/** The marks among the entries: undo, redo, pins and the like. */
export async function marksAmong(entries: AsyncIterable<Entry>): Promise<readonly Entry[]> {
  const marks: Entry[] = [];
  for await (const entry of entries) if (!isMessage(entry)) marks.push(entry);
  return marks;
}

/** The entries that somebody else should read: messages of turns that were neither undone nor failed, and summaries. */
export async function* standing(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  undone: ReadonlySet<number>,
): AsyncGenerator<Entry> {
  for await (const entry of entries)
    if (isMessage(entry) ? !undone.has(entry.turn) : isCompressBlock(entry)) yield entry;
}

/** The ids of these turns and of their messages, as far as these are among the entries. */
export function undoneIds(entries: readonly Entry[]): ReadonlySet<number> {
  const undone = undoneTurns(entries);
  const gone = entries.filter((entry) => isMessage(entry) && undone.has(entry.turn));
  return new Set([...undone, ...gone.map(({ id }) => id)]);
}

/** A user message with its record of the skills. */
type SkillMessage = Message & { readonly skills: SkillRecord };

/**
 * The newest message with a record of the skills that was not undone, or null.
 * Older records add nothing: each continues the one before.
 */
export function lastSkillMessage(entries: readonly Entry[]): SkillMessage | null {
  const undone = undoneTurns(entries);
  const hasSkills = (entry: Entry): entry is SkillMessage =>
    isMessage(entry) && entry.skills !== undefined && !undone.has(entry.turn);
  return entries.findLast(hasSkills) ?? null;
}

/**
 * What is known about a conversation before its first entry is read: how many compactions it has, and its newest
 * entries.
 */
interface Overview {
  readonly totals: { readonly compactions: number };
  readonly entries: readonly Entry[];
}

/**
 * Yields the entries in the order people read them: each compaction comes between the last message it replaced and the
 * first one it kept, although it was written after both. Entries are read once and yielded as soon as it is certain
 * that no compaction belongs before them.
 */
export async function* inReadingOrder(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { totals, entries: newest }: Overview,
): AsyncGenerator<Entry> {
  const waiting = newest.filter(isPlaced);
  const known = new Set(newest.filter(isCompressBlock).map(({ id }) => id));
  let unknown = totals.compactions - known.size;
  // Entries that a later compaction may have kept. A compaction never keeps what an earlier one replaced, so each one
  // releases all entries before its place.
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

/**
 * Whether an entry is moved to its reading position. A block that takes a compaction back stays where it was written.
 */
function isPlaced(entry: Entry): entry is CompressBlock {
  return isCompressBlock(entry) && entry.restores === undefined;
}

/**
 * Yields the entries, and before each message the waiting blocks that belong there, which are then removed from
 * `waiting`.
 */
function* withBlocks(entries: readonly Entry[], waiting: CompressBlock[]): Generator<Entry> {
  for (const entry of entries) {
    while (isMessage(entry) && waiting[0] !== undefined && follows(entry.id, waiting[0])) yield* waiting.splice(0, 1);
    yield entry;
  }
}

/**
 * The first message a block kept may be gone, or older than what is read. The block then comes before the next message.
 */
function follows(id: number, block: CompressBlock): boolean {
  return id >= (block.first_kept ?? block.id);
}

/** The tool whose calls and results only repeat other messages. */
export const RECALL_TOOL = 'recall';

const SEARCH_AGAIN = 'A part of the conversation was removed in the meantime. Search again.';

/** Parts that were made before a part of the conversation was removed, without what they repeat of other messages. */
export function withoutRepeated<Kind extends Part>(content: readonly Kind[]): readonly Kind[] {
  return content
    .filter((part) => part.type !== 'text' || part.recalled === undefined)
    .map((part) =>
      part.type === 'tool_result' && part.name === RECALL_TOOL
        ? { ...part, result: undefined, error: SEARCH_AGAIN }
        : part,
    );
}

/**
 * The same for entries in memory only: without summaries, and without pins and passages of messages that are not among
 * themselves.
 */
export function withoutCopies(own: readonly Entry[]): readonly Entry[] {
  const first = own[0]?.id ?? 0;
  return own.flatMap((entry): readonly Entry[] => {
    if (isCompressBlock(entry)) return [];
    if ('type' in entry) return entry.type === 'pin' && entry.message.id < first ? [] : [entry];
    return [{ ...entry, content: withoutRepeated(entry.content) }];
  });
}

/**
 * What is held of a log: the number of its entries, and the sum of their content. Whether it is still a beginning of
 * the log is decided by that alone: a log that was rewritten may have the same first and last id, and ids of entries
 * that were never written are used again.
 */
export class HeldEntries {
  #count = 0;
  #sum = 0;

  /** The held entries, oldest first. */
  static of(entries: Iterable<Entry>): HeldEntries {
    const held = new HeldEntries();
    for (const entry of entries) held.add(entry);
    return held;
  }

  get count(): number {
    return this.#count;
  }

  /** A CRC-32, for comparison with one that was stored. */
  get sum(): number {
    return this.#sum;
  }

  /** Holds the next entry too. */
  add(entry: Entry): void {
    this.#count += 1;
    this.#sum = crc32(JSON.stringify(entry), this.#sum);
  }

  /** True if these entries begin with the held ones. */
  isBeginningOf(entries: readonly Entry[]): boolean {
    return entries.length >= this.#count && HeldEntries.of(entries.slice(0, this.#count)).sum === this.#sum;
  }
}
