import type { EditBuffer } from './edit-buffer.js';

/** The earlier and later states of a line. */
export class UndoStack {
  #undo: EditBuffer[] = [];
  #redo: EditBuffer[] = [];

  /** Records the state before a change. */
  push(buffer: EditBuffer): void {
    this.#undo.push(buffer);
    this.#redo = [];
  }

  /** The state before `current`; null when there is none. */
  undo(current: EditBuffer): EditBuffer | null {
    return step(current, this.#undo, this.#redo);
  }

  /** The state that the last undo left; null when there is none. */
  redo(current: EditBuffer): EditBuffer | null {
    return step(current, this.#redo, this.#undo);
  }

  clear(): void {
    this.#undo = [];
    this.#redo = [];
  }
}

function step(current: EditBuffer, from: EditBuffer[], to: EditBuffer[]): EditBuffer | null {
  const next = from.pop();
  if (next === undefined) return null;
  to.push(current);
  return next;
}
