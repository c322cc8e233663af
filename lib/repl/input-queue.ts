import { type EditBuffer, EMPTY_BUFFER, joinLines } from './editing/edit-buffer.js';

/** The lines submitted while an earlier one is still being processed. */
export class InputQueue {
  #lines: EditBuffer[] = [];
  #current = EMPTY_BUFFER;

  push(line: EditBuffer): void {
    this.#lines.push({ ...line, cursor: line.text.length });
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

  /** Puts the line that is being processed back, before the others. The cursor is at `mention` if the line has it. */
  requeue(mention: string): void {
    const { text } = this.#current;
    const at = mention === '' ? -1 : Math.max(text.indexOf(`@${mention}`), text.indexOf(`@"${mention}`));
    this.#lines.unshift({ ...this.#current, cursor: at === -1 ? text.length : at });
    this.#current = EMPTY_BUFFER;
  }

  /** Empties the queue into the line being typed. The cursor stays where the oldest line has it, unless that is its end. */
  restore(typed: EditBuffer): EditBuffer {
    const lines = this.drain();
    const joined = joinLines([...lines, typed]);
    const [first = EMPTY_BUFFER] = lines;
    return first.cursor < first.text.length ? { ...joined, cursor: first.cursor } : joined;
  }

  /** Empties the queue and returns its lines. */
  drain(): readonly EditBuffer[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}
