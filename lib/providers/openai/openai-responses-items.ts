import type { ResponseFunctionToolCall, ResponseOutputItem } from 'openai/resources/responses/responses';
import { longerArguments } from '../common/answer/streamed-answer.js';

/** What is known of an item when it is done. */
export interface EndedItem {
  /** Whether pieces of it have come. */
  readonly isStreamed: boolean;
  /** Whether it is the one whose pieces came last. */
  readonly isOpen: boolean;
}

interface OpenCall {
  readonly keys: readonly string[];
  readonly call: ResponseFunctionToolCall;
}

/**
 * The items of an answer while they arrive. A server may begin one before the one before is done, so each is known by its place in the answer or by its id:
 * some servers give every item the place 0, some another id with every event, some neither.
 */
export class OpenItems {
  readonly #streamed = new Set<string>();
  #open: readonly string[] = [];
  #calls: OpenCall[] = [];

  /** An item begins. */
  begin(place: number | undefined, item: ResponseOutputItem): void {
    const keys = keysOf(place, item.id);
    for (const key of keys) this.#streamed.delete(key);
    if (item.type === 'function_call') this.#calls.push({ keys, call: { ...item, arguments: item.arguments ?? '' } });
  }

  /** A piece of an item's text comes. True when the piece before it was of another item. */
  turnTo(place: number | undefined, id: string | undefined): boolean {
    const keys = keysOf(place, id);
    for (const key of keys) this.#streamed.add(key);
    const isOther = !overlap(this.#open, keys);
    this.#open = keys;
    return isOther;
  }

  /** A piece of a call's arguments comes. */
  addArguments(place: number | undefined, id: string | undefined, text: string): void {
    const keys = keysOf(place, id);
    const open = this.#calls.findLast((one) => overlap(one.keys, keys));
    if (open) open.call.arguments = longerArguments(open.call.arguments, text);
  }

  /** An item is done. */
  end(place: number | undefined, item: ResponseOutputItem): EndedItem {
    const keys = keysOf(place, item.id);
    const isStreamed = keys.some((key) => this.#streamed.delete(key));
    const isOpen = overlap(this.#open, keys);
    if (isOpen) this.#open = [];
    this.#calls = this.#calls.filter((one) => !overlap(one.keys, keys));
    return { isStreamed, isOpen };
  }

  /** The calls that were begun and are not done. */
  unfinished(): readonly ResponseFunctionToolCall[] {
    return this.#calls.map(({ call }) => call);
  }
}

function keysOf(place: unknown, id: unknown): readonly string[] {
  const keys = [typeof place === 'number' ? `place ${place}` : null, typeof id === 'string' ? `id ${id}` : null];
  const known = keys.filter((key) => key !== null);
  return known.length > 0 ? known : ['unknown'];
}

const overlap = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((key) => others.includes(key));
