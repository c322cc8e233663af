import { type Entry, isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { changesOfUndone } from './disk/build.js';
import { Collector } from './index/collector.js';
import { documentOf } from './index/documents.js';
import { KindReader } from './index/kind-reader.js';

/** The newest messages, which are in no segment yet: indexed in memory, and added to as the conversation goes on. */
export class UnsealedTail {
  readonly collector = new Collector();
  readonly messages: Message[] = [];
  readonly undone: number[] = [];
  readonly first: number;
  readonly #reader = new KindReader();
  #lastMark = 0;
  #last = 0;
  #lastAt = '';

  constructor(entries: readonly Entry[]) {
    this.first = entries[0]?.id ?? 0;
  }

  /** True when it can be added to until it holds just these entries. */
  isBeginningOf(entries: readonly Entry[]): boolean {
    const held = this.#last === 0 ? null : entries.findLast(({ id }) => id === this.#last);
    // What was not written has ids that others get later.
    return this.first === (entries[0]?.id ?? 0) && (held === null || held?.at === this.#lastAt);
  }

  /** Takes in what is newer, the oldest first, as long as there is time; true when that was all. What was undone is known in any case. */
  add(entries: readonly Entry[], hasTime: () => boolean): boolean {
    this.#addMarks(entries);
    for (const entry of entries) {
      if (entry.id <= this.#last) continue;
      if (!hasTime()) return false;
      this.#last = entry.id;
      this.#lastAt = entry.at;
      const document = isMessage(entry) ? documentOf(entry, this.#reader.kindOf(entry)) : null;
      if (document === null || !isMessage(entry)) continue;
      this.collector.add(document);
      this.messages.push(entry);
    }
    return true;
  }

  #addMarks(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.id <= this.#lastMark) continue;
      this.#lastMark = entry.id;
      for (const turn of changesOfUndone(entry)) this.undone.push(turn);
    }
  }
}
