import type { Key } from 'node:readline';
import { isPrintable } from './editing/key-bindings.js';

/** What a key did to a search. `take`: edit the match. `send`: submit the match. `cancel`: restore the line. */
export type SearchOutcome = 'continue' | 'take' | 'send' | 'cancel';

/** A search through earlier inputs, newest first, like Ctrl-R in a shell. */
export class HistorySearch {
  readonly #entries: readonly string[];
  readonly #enter: 'take' | 'send';
  #query = '';
  #index: number;

  /** Takes the inputs oldest first, and what Enter does with the match: in vi's normal mode it is not sent yet. */
  constructor(entries: readonly string[], enter: 'take' | 'send' = 'send') {
    this.#entries = entries;
    this.#enter = enter;
    this.#index = entries.length;
  }

  /** Replaces the prompt during the search. */
  prompt(): string {
    return `(${this.#query !== '' && this.match() === null ? 'no match' : 'search'}) ${this.#query}: `;
  }

  /** The input found; null when there is none. */
  match(): string | null {
    const entry = this.#entries[this.#index];
    return this.#query === '' || !includes(entry, this.#query) ? null : (entry ?? null);
  }

  key(text: string, key: Key): SearchOutcome {
    const name = `${key.ctrl ? 'C-' : ''}${key.name ?? ''}`;
    const isFound = this.match() !== null;
    if (name === 'return') return isFound ? this.#enter : 'cancel';
    if (name === 'C-c' || name === 'C-g' || name === 'escape') return 'cancel';
    if (name === 'C-r') this.#find(this.#index - 1, -1);
    else if (name === 'C-s') this.#find(this.#index + 1, 1);
    else if (name === 'backspace' || name === 'C-h') this.#search(this.#query.slice(0, -1));
    else if (isPrintable(text, key)) this.#search(this.#query + text);
    else return isFound ? 'take' : 'cancel';
    return 'continue';
  }

  /** Searches from the current match to older inputs, then from the newest. */
  #search(query: string): void {
    this.#query = query;
    const newest = this.#entries.length - 1;
    const from = Math.min(this.#index, newest);
    this.#index = this.#entries.length;
    this.#find(from, -1);
    if (this.#index === this.#entries.length) this.#find(newest, -1);
  }

  /** Moves to the nearest match in that direction, if there is one. */
  #find(from: number, step: 1 | -1): void {
    for (let index = from; index >= 0 && index < this.#entries.length; index += step) {
      if (!includes(this.#entries[index], this.#query)) continue;
      this.#index = index;
      return;
    }
  }
}

/** A query with a capital letter is case-sensitive (smart case). */
function includes(entry: string | undefined, query: string): boolean {
  if (entry === undefined) return false;
  return /\p{Lu}/u.test(query) ? entry.includes(query) : entry.toLowerCase().includes(query);
}
