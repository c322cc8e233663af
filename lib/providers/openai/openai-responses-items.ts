import type { ResponseFunctionToolCall, ResponseOutputItem } from 'openai/resources/responses/responses';
import { longerArguments } from '../common/answer/streamed-answer.js';

/** The state of an item when it is done. */
export interface EndedItem {
  /** Whether pieces of it have arrived. */
  readonly isStreamed: boolean;
  /** Whether the last piece belonged to it. */
  readonly isOpen: boolean;
}

interface OpenCall {
  readonly keys: readonly string[];
  readonly call: ResponseFunctionToolCall;
}

/**
 * The items of a streamed answer. A server may begin an item before the previous one is done, so each is identified by its place in the answer or by its id:
 * some servers give every item the place 0, some a new id with every event, some neither.
 */
export class OpenItems {
  readonly #streamed = new Set<string>();
  #open: readonly string[] = [];
  #calls: OpenCall[] = [];

  /** Begins an item. */
  begin(place: number | undefined, item: ResponseOutputItem): void {
    const keys = keysOf(place, item.id);
    for (const key of keys) this.#streamed.delete(key);
    if (item.type === 'function_call') this.#calls.push({ keys, call: { ...item, arguments: item.arguments ?? '' } });
  }

  /** Switches to the item of the next piece of text. True if the previous piece belonged to another item. */
  turnTo(place: number | undefined, id: string | undefined): boolean {
    const keys = keysOf(place, id);
    for (const key of keys) this.#streamed.add(key);
    const isOther = !overlap(this.#open, keys);
    this.#open = keys;
    return isOther;
  }

  /** Adds a piece of a call's arguments. */
  addArguments(place: number | undefined, id: string | undefined, text: string): void {
    const keys = keysOf(place, id);
    const open = this.#calls.findLast((one) => overlap(one.keys, keys));
    if (open) open.call.arguments = longerArguments(open.call.arguments, text);
  }

  /** Ends an item. */
  end(place: number | undefined, item: ResponseOutputItem): EndedItem {
    const keys = keysOf(place, item.id);
    const isStreamed = keys.some((key) => this.#streamed.delete(key));
    const isOpen = overlap(this.#open, keys);
    if (isOpen) this.#open = [];
    this.#calls = this.#calls.filter((one) => !overlap(one.keys, keys));
    return { isStreamed, isOpen };
  }

  /** The calls that have begun and are not done. */
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
