import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { blockCiting, newIdsIn } from '../../view/block-state.js';
import { ROOM_LIMIT } from '../file/entries.js';
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
 * Merges the parts of a file: whole turns in chronological order, each element once, with ascending ids. Ids that are
 * already in order stay.
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

/** The new ids of merged elements, by the old ids under which other elements of the same part refer to them. */
export class NewIds {
  readonly #items: readonly Item[];
  readonly #ids: Float64Array;
  /** For each part, the elements by their old id. */
  readonly #named: readonly Map<number, number[]>[];
  /** For each part, the first element of a turn. */
  readonly #turns: readonly Map<number, number>[];

  constructor(items: readonly Item[], parts: number, { order, ids, repeated }: Merged) {
    this.#items = items;
    this.#ids = new Float64Array(items.length);
    for (const [at, index] of order.entries()) this.#ids[index] = ids[at] ?? 0;
    for (const [index, first] of repeated) this.#ids[index] = this.#ids[first] ?? 0;
    this.#named = Array.from({ length: parts }, () => new Map());
    this.#turns = Array.from({ length: parts }, () => new Map());
    for (const [index, item] of items.entries()) if (this.#ids[index] !== 0) this.#know(item, index);
  }

  /**
   * The new id of the element that the one at index `from` refers to as `old`: the nearest one before it, because ids
   * may repeat, else the next one after it.
   */
  find(from: number, old: number): number {
    const part = this.#items[from]?.part ?? 0;
    const named = this.#named[part]?.get(old);
    const index =
      named?.findLast((at) => at <= from) ??
      named?.[0] ??
      this.#turns[part]?.get(old) ??
      this.#after(part, old) ??
      from;
    return this.#ids[index] ?? 0;
  }

  /** The new id of the element that the one at index `from` names as `old`; null if there is none. */
  named(from: number, old: number): number | null {
    return this.#named[this.#items[from]?.part ?? 0]?.has(old) === true ? this.find(from, old) : null;
  }

  #know({ part, id, turn }: Item, index: number): void {
    const named = this.#named[part];
    if (id !== null && named) named.set(id, [...(named.get(id) ?? []), index]);
    const turns = this.#turns[part];
    if (turn !== null && turns && !turns.has(turn)) turns.set(turn, index);
  }

  /** For an element that was removed, the next one. */
  #after(part: number, old: number): number | undefined {
    const index = this.#items.findIndex(
      (item, at) => item.part === part && (item.id ?? 0) > old && this.#ids[at] !== 0,
    );
    return index < 0 ? undefined : index;
  }
}

/** The new ids for the references of an element. */
export interface Renumbering {
  /** The one for a reference to an element, or to the place where it was. */
  find(old: number): number;
  /** The one for a message that a text names; null if it is not there. */
  named(old: number): number | null;
}

/**
 * An element with a new id, and its references to other elements updated to their new ids. Unknown fields are
 * unchanged.
 */
export function renumber(element: JsonObject, id: number, { find, named }: Renumbering): JsonObject {
  const { turn, turns, first_kept, state, message, messages, pins, restores, type, content } = element;
  const one = (value: JsonValue | undefined): JsonValue => (typeof value === 'number' ? find(value) : (value ?? null));
  const moved: JsonObject = { ...element, id };
  return {
    ...moved,
    ...(turn === undefined ? {} : { turn: one(turn) }),
    ...(isList(turns) ? { turns: turns.map(one) } : {}),
    ...(first_kept === undefined ? {} : { first_kept: one(first_kept) }),
    ...(isJsonObject(state) ? { state: renumberedState(state, one) } : {}),
    ...(typeof restores === 'number' && restores > 0 ? { restores: one(restores) } : {}),
    ...(isJsonObject(message) ? { message: renumberedMessage(message, one) } : {}),
    ...(isList(messages) ? { messages: messages.map(one) } : {}),
    ...(isJsonObject(pins) ? { pins: renumberedPins(pins, one) } : {}),
    ...(isList(content) ? { content: content.map((part) => withRecalled(part, named)) } : {}),
    ...(type === 'compress' && typeof content === 'string' ? citingNew({ ...element, content }, one, named) : {}),
  };
}

/** The text and the state of a block, with the new ids of the messages that they name. */
function citingNew(
  { content, state }: JsonObject & { readonly content: string },
  one: NewId,
  named: Renumbering['named'],
): JsonObject {
  const renumbered = isJsonObject(state) ? renumberedState(state, one) : null;
  const cited = blockCiting(content, renumbered ?? {}, named);
  return renumbered === null ? { content: cited.content } : cited;
}

/** A part of a message with the new ids of what it recalls. */
function withRecalled(part: JsonValue, named: Renumbering['named']): JsonValue {
  if (!isJsonObject(part) || !isList(part.recalled) || part.book !== undefined) return part;
  const { text } = part;
  const head = (all: string, digits: string): string =>
    `[#${named(Number(digits)) ?? 0}${all.slice(digits.length + 2)}`;
  return {
    ...part,
    recalled: newIdsIn(part.recalled, named),
    ...(typeof text === 'string' ? { text: text.replace(/^\[#(\d{1,15}) /gm, head) } : {}),
  };
}

type NewId = (value: JsonValue | undefined) => JsonValue;

const renumberedMessage = (message: JsonObject, one: NewId): JsonObject => ({
  ...message,
  id: one(message.id),
  turn: one(message.turn),
});

/** The pins of a block. */
function renumberedPins(pins: JsonObject, one: NewId): JsonObject {
  const messages = isList(pins.messages) ? pins.messages : [];
  return {
    ...pins,
    until: one(pins.until),
    messages: messages.map((message) => (isJsonObject(message) ? renumberedMessage(message, one) : message)),
  };
}

/** The state of a block: which messages stay in view, and which are shortened. */
function renumberedState(state: JsonObject, one: (value: JsonValue | undefined) => JsonValue): JsonObject {
  const lists = ['also', 'open', 'pruned', 'named'].flatMap((name) => {
    const value = state[name];
    return isList(value) ? [[name, value.map(one)] as const] : [];
  });
  const places = ['cut', 'covered'].flatMap((name) => {
    const value = state[name];
    return isJsonObject(value) ? [[name, { ...value, turn: one(value.turn), id: one(value.id) }] as const] : [];
  });
  return { ...state, ...Object.fromEntries([...lists, ...places]) };
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
