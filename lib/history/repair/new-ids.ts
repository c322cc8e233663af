import type { Item } from './inventory.js';
import type { Merged } from './merge-conversations.js';

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

  /** The new id of the element that the one at index `from` refers to as `old`: the nearest one before it, because ids may repeat, else the next one after it. */
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
