import type { EditBuffer } from './edit-buffer.js';

/** Earlier inputs, oldest first. */
export interface InputList {
  entries(): readonly string[];
}

/** A position in the input history. The line being typed is the draft, which comes after the newest input. */
export class HistoryCursor {
  readonly #history: InputList;
  readonly #fold: (text: string) => EditBuffer;
  #recalled: { readonly index: number; readonly draft: EditBuffer } | null = null;

  /** `fold` turns an input into what the line shows: long pastes become tokens. */
  constructor(history: InputList, fold: (text: string) => EditBuffer) {
    this.#history = history;
    this.#fold = fold;
  }

  /** The input before the current one; null at the oldest. */
  older(current: EditBuffer): EditBuffer | null {
    return this.#moveTo((this.#recalled?.index ?? this.#history.entries().length) - 1, current);
  }

  /** The input after the current one, or the draft; null at the draft. */
  newer(current: EditBuffer): EditBuffer | null {
    return this.#recalled === null ? null : this.#moveTo(this.#recalled.index + 1, current);
  }

  reset(): void {
    this.#recalled = null;
  }

  #moveTo(index: number, current: EditBuffer): EditBuffer | null {
    const entries = this.#history.entries();
    if (index < 0 || index > entries.length) return null;
    const draft = this.#recalled?.draft ?? current;
    this.#recalled = index === entries.length ? null : { index, draft };
    return index === entries.length ? draft : this.#fold(entries[index] ?? '');
  }
}
