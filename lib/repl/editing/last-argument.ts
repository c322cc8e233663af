import { type EditBuffer, insert, replaceRange } from './edit-buffer.js';
import type { InputList } from './history-cursor.js';

/** Inserts the last word of an earlier input, like Alt-. in a shell. */
export class LastArgument {
  readonly #history: InputList;
  #inserted: { readonly start: number; readonly index: number } | null = null;

  constructor(history: InputList) {
    this.#history = history;
  }

  /** Inserts the word of the newest input. Pressed again (`isAgain`), replaces it with that of the input before. Null if there is none. */
  next(buffer: EditBuffer, isAgain: boolean): EditBuffer | null {
    const entries = this.#history.entries();
    const before = isAgain ? this.#inserted : null;
    const index = (before?.index ?? entries.length) - 1;
    const word = (entries[index] ?? '').slice(-LONGEST).trim().split(/\s/).at(-1);
    if (!word) return null;
    const start = before?.start ?? buffer.cursor;
    this.#inserted = { start, index };
    const text = { text: word, marks: [] };
    return before === null ? insert(buffer, text) : replaceRange(buffer, start, buffer.cursor, text);
  }
}

/** At most this many characters, from the end of the word, are inserted. */
const LONGEST = 1000;
