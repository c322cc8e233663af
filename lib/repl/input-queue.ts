import { type EditBuffer, EMPTY_BUFFER } from './editing/edit-buffer.js';

/** The lines submitted while an earlier one is still being processed. */
export class InputQueue {
  #lines: EditBuffer[] = [];
  #current = EMPTY_BUFFER;

  push(line: EditBuffer): void {
    this.#lines.push(line);
  }

  shift(): EditBuffer | undefined {
    return this.#lines.shift();
  }

  /** Takes the newest line back; undefined when there is none. */
  pop(): EditBuffer | undefined {
    return this.#lines.pop();
  }

  get lines(): readonly EditBuffer[] {
    return this.#lines;
  }

  /** Records the line that is being processed. */
  start(line: EditBuffer): void {
    this.#current = line;
  }

  /** Puts the line that is being processed back, before the others. */
  requeue(): void {
    this.#lines.unshift(this.#current);
    this.#current = EMPTY_BUFFER;
  }

  /** Empties the queue and returns its lines. */
  drain(): readonly EditBuffer[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}
