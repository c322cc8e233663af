import { firstCharacters } from '../../chat/text/cut-text.js';
import { newlinesIn } from '../../chat/text/newlines-in.js';
import { quantity } from '../../chat/text/quantity.js';

/** How much of an output is shown: the first and last lines, up to a number of characters. */
const HEAD_LINES = 20;
const TAIL_LINES = 10;
const MAX_CHARACTERS = 2000;

/** Passes the start of an output through as it arrives, and keeps its end. What is between them is only counted. */
export class OutputEnds {
  #headLines = 0;
  #headCharacters = 0;
  #isAtLineStart = true;
  /** The part after the head that may still be shown. */
  #tail = '';
  #droppedLines = 0;
  #dropped = 0;

  /** Returns what of the next piece is shown now. So many lines end in it, also where the text does not have them all. */
  push(text: string, lines: number): string {
    this.#droppedLines += lines - newlinesIn(text);
    const end = this.#tail === '' ? this.#headOf(text) : 0;
    this.#keep(text.slice(end));
    return text.slice(0, end);
  }

  /** Returns the end of the output, after a line that says how much is left out. */
  end(): string {
    if (this.#dropped === 0) return this.#tail;
    const what =
      this.#droppedLines > 0 ? quantity(this.#droppedLines, 'more line') : quantity(this.#dropped, 'more character');
    return `${this.#isAtLineStart ? '' : '\n'}… ${what}\n${this.#tail}`;
  }

  /** Where the head ends in this piece. */
  #headOf(text: string): number {
    let end = 0;
    for (let lines = this.#headLines; lines < HEAD_LINES && end < text.length; lines += 1) {
      const newline = text.indexOf('\n', end);
      end = newline === -1 ? text.length : newline + 1;
    }
    const head = firstCharacters(text.slice(0, end), MAX_CHARACTERS - this.#headCharacters);
    this.#headLines += newlinesIn(head);
    this.#headCharacters = head.length < end ? MAX_CHARACTERS : this.#headCharacters + head.length;
    if (head !== '') this.#isAtLineStart = head.endsWith('\n');
    return head.length;
  }

  #keep(text: string): void {
    const tail = this.#tail + text;
    const start = startOfTail(tail);
    const dropped = tail.slice(0, start);
    this.#tail = tail.slice(start);
    this.#dropped += dropped.length;
    this.#droppedLines += newlinesIn(dropped);
  }
}

/** Where the last lines begin; in one that is too long, where its last characters do. */
function startOfTail(text: string): number {
  let start = text.length;
  for (let line = 0; line <= TAIL_LINES && start > 0; line += 1) start = text.lastIndexOf('\n', start - 1);
  const byLines = start <= 0 ? 0 : start + 1;
  return Math.max(byLines, text.length - MAX_CHARACTERS);
}
