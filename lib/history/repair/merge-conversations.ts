import { ROOM_LIMIT } from '../file/entries/entries.js';
import type { Inventory, Item } from './inventory.js';

/** The elements of the merged conversation, by their index, and their ids. */
export interface Merged {
  readonly order: readonly number[];
  /** Their ids, in the same order. */
  readonly ids: readonly number[];
  /** Elements that no checksum covers. */
  readonly unverified: readonly number[];
  /** Repeated elements, each with the index of the first one. */
  readonly repeated: ReadonlyMap<number, number>;
  /** Whether any element got a new id. */
  readonly isRenumbered: boolean;
}

/**
 * Merges the parts of a file: whole turns in chronological order, each element once, with ascending ids. Ids that are already in order stay.
 */
export function mergeConversations(inventory: Inventory): Merged {
  const { items } = inventory;
  const unverified: number[] = [];
  const sequences: number[][] = inventory.parts.map(() => []);
  const isTrusted = isTrustedIn(inventory);
  for (const [index, item] of items.entries()) {
    if (item.stale) continue;
    if (isTrusted(item)) sequences[item.part]?.push(index);
    else unverified.push(index);
  }
  addStale(items, sequences);
  const { kept, repeated } = withoutRepeats(
    items,
    sequences.filter((sequence) => sequence.length > 0),
  );
  const order = mergeByTime(items, kept);
  const ids = idsFor(items, order);
  const isRenumbered = order.some((index, at) => items[index]?.id !== ids[at]);
  return { order, ids, unverified, repeated, isRenumbered };
}

/** Trusts elements with a checksum and, in a complete part, elements without one. */
function isTrustedIn({ parts }: Inventory): (item: Item) => boolean {
  const whole = parts.map((part) => !part.isDamaged && part.splitter.isWellFormed);
  return ({ trust, part }) => trust === 'checked' || (trust === 'plain' && whole[part] === true);
}

/** Uses an older copy if the element itself is lost. */
function addStale(items: readonly Item[], sequences: number[][]): void {
  const stale = items.flatMap((item, index) => (item.stale ? [index] : []));
  if (stale.length === 0) return;
  const live = sequences.map((sequence) => new Set(sequence.map((index) => items[index]?.id)));
  const added = new Set<number>();
  for (const index of stale) {
    const item = items[index];
    const known = item && live[item.part];
    if (!item || !known || known.has(item.id)) continue;
    known.add(item.id);
    sequences[item.part]?.push(index);
    added.add(item.part);
  }
  for (const part of added) sequences[part]?.sort((one, other) => idAt(items, one) - idAt(items, other));
}

/** Leaves out elements that repeat another one exactly, under the same id. */
function withoutRepeats(items: readonly Item[], sequences: readonly (readonly number[])[]) {
  if (sequences.length < 2 && ascends(items, sequences[0] ?? []))
    return { kept: sequences, repeated: new Map<number, number>() };
  const seen = new Map<string, number>();
  const repeated = new Map<number, number>();
  const kept = sequences.map((sequence) =>
    sequence.filter((index) => {
      const item = items[index];
      if (!item || item.id === null) return true;
      const name = `${item.id} ${item.time} ${item.checksum}`;
      const first = seen.get(name);
      if (first === undefined) seen.set(name, index);
      else repeated.set(index, first);
      return first === undefined;
    }),
  );
  return { kept: kept.filter((sequence) => sequence.length > 0), repeated };
}

function ascends(items: readonly Item[], sequence: readonly number[]): boolean {
  return sequence.every((index, at) => at === 0 || idAt(items, index) > idAt(items, sequence[at - 1] ?? 0));
}

/** A sequence that is being merged. */
interface Queue {
  readonly sequence: readonly number[];
  at: number;
  /** The latest time in it so far: a clock may have been set back, but the order of a conversation does not change. */
  time: number;
}

/** The sequences merged turn by turn, the earlier one first. */
function mergeByTime(items: readonly Item[], sequences: readonly (readonly number[])[]): readonly number[] {
  if (sequences.length < 2) return sequences[0] ?? [];
  const queues = sequences.map((sequence): Queue => ({ sequence, at: 0, time: timeAt(items, sequence[0]) }));
  const order: number[] = [];
  while (queues.length > 0) {
    const next = queues.reduce((first, queue) => (queue.time < first.time ? queue : first));
    takeTurn(items, next, order);
    if (next.at === next.sequence.length) queues.splice(queues.indexOf(next), 1);
  }
  return order;
}

function takeTurn(items: readonly Item[], queue: Queue, order: number[]): void {
  do {
    order.push(queue.sequence[queue.at] ?? 0);
    queue.at += 1;
  } while (queue.at < queue.sequence.length && items[queue.sequence[queue.at] ?? 0]?.beginsTurn !== true);
  queue.time = Math.max(queue.time, timeAt(items, queue.sequence[queue.at]));
}

/** The ids of the elements, each at least one higher than the one before. */
function idsFor(items: readonly Item[], order: readonly number[]): readonly number[] {
  const highest = order.reduce((most, index) => Math.max(most, items[index]?.id ?? 0), 0);
  let last = 0;
  const ids = order.map((index) => {
    const id = items[index]?.id ?? 0;
    last = id > last ? id : last + 1;
    return last;
  });
  return highest < ROOM_LIMIT && last < ROOM_LIMIT ? ids : order.map((_, at) => at + 1);
}

function idAt(items: readonly Item[], index: number): number {
  return items[index]?.id ?? 0;
}

function timeAt(items: readonly Item[], index: number | undefined): number {
  return index === undefined ? Number.POSITIVE_INFINITY : (items[index]?.time ?? 0);
}
