import { type EditBuffer, EMPTY_BUFFER, joinLines } from './editing/edit-buffer.js';
import type { LongPastes } from './editing/long-pastes.js';
import { recallable } from './editing/quoted-block.js';
import type { InputHistory } from './input-history.js';

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

  /**
   * Empties the queue into the line being typed. Messages become one, but a command stays alone: joined, the words after it would be its arguments.
   * What does not fit into the line is in `others`, oldest first. The cursor stays where the oldest line has it, unless that is its end.
   */
  restore(typed: EditBuffer): { readonly line: EditBuffer; readonly others: readonly EditBuffer[] } {
    const lines = this.drain();
    const inputs = joinMessages([...lines, typed].filter(({ text }) => text.trim() !== ''));
    const [first = EMPTY_BUFFER] = lines;
    if (first.cursor === first.text.length) return { line: inputs.at(-1) ?? typed, others: inputs.slice(0, -1) };
    const [line = typed, ...others] = inputs;
    return { line: { ...line, cursor: first.cursor }, others };
  }

  /** Empties the queue and returns its lines. */
  drain(): readonly EditBuffer[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}

/** A command line, or the quotes of a block, as `parseLine` and `blockText` read them. */
const COMMAND = /^\s*(?:[/!]|""")/;

function joinMessages(lines: readonly EditBuffer[]): readonly EditBuffer[] {
  const inputs: EditBuffer[] = [];
  for (const line of lines) {
    const last = inputs.at(-1);
    if (last === undefined || COMMAND.test(last.text) || COMMAND.test(line.text)) inputs.push(line);
    else inputs[inputs.length - 1] = joinLines([last, line]);
  }
  return inputs;
}

/** Adds texts that were not sent to the input history. */
export function rememberUnsent(
  buffers: readonly EditBuffer[],
  { history, longPastes }: { readonly history: InputHistory; readonly longPastes: LongPastes },
): void {
  for (const buffer of buffers) if (buffer.text.trim() !== '') history.add(recallable(longPastes.expand(buffer)));
}
