import type { Entry } from '../../chat/entry.js';
import { firstNeeded } from '../../view/view.js';
import { type Facts, NO_FACTS, withEntry } from './facts.js';

/** The number of additions after which older entries are pruned again. */
const PRUNE_AFTER = 10_000;

/** Collects the entries that the view needs from a whole log. */
export class RecentEntries {
  #entries: Entry[] = [];
  #facts: Facts = NO_FACTS;
  #limit = PRUNE_AFTER;

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#facts = withEntry(this.#facts, entry);
    if (this.#entries.length < this.#limit) return;
    const first = this.first;
    if (first !== this.#entries[0]?.id) this.#entries = this.#entries.filter(({ id }) => first !== null && id >= first);
    this.#limit = Math.ceil(1.25 * this.#entries.length) + PRUNE_AFTER;
  }

  /** The entries from the first one that the view needs. */
  get entries(): readonly Entry[] {
    const first = this.first;
    if (first === null) return [];
    return first === this.#entries[0]?.id ? this.#entries : this.#entries.filter(({ id }) => id >= first);
  }

  /** The id of the first one that the view needs, null for none. */
  get first(): number | null {
    return firstNeeded(this.#entries);
  }

  get facts(): Facts {
    return this.#facts;
  }
}
