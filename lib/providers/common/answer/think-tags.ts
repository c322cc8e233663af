import type { StreamEvent } from '../../../chat/event.js';
import type { StreamedAnswer } from './streamed-answer.js';

const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * Separates thinking at the beginning of a text, between the tags of DeepSeek R1, Qwen 3 and similar models: a server that does not know the tags passes
 * them on as text. In the middle of a text they are plain text.
 */
export class ThinkTags {
  #place: 'start' | 'thinking' | 'behind' | 'text' = 'start';
  /** Held back because it may be part of a tag, or whitespace before one. */
  #held = '';

  /** Reads one piece of the text. */
  *read(piece: string, answer: StreamedAnswer): Generator<StreamEvent> {
    if (this.#place === 'text') return yield* answer.piece('text', piece);
    this.#held += piece;
    if (this.#place === 'start') yield* this.#begin(answer);
    if (this.#place === 'thinking') yield* this.#think(answer);
    if (this.#place === 'behind') yield* this.#goOn(answer);
  }

  /** Yields the rest at the end of the text. */
  *end(answer: StreamedAnswer): Generator<StreamEvent> {
    const type = this.#place === 'thinking' ? 'thinking' : 'text';
    if (this.#place !== 'behind') yield* answer.piece(type, this.#held);
    this.#held = '';
  }

  *#begin(answer: StreamedAnswer): Generator<StreamEvent> {
    const text = this.#held.trimStart();
    if (text.startsWith(OPEN)) {
      this.#place = 'thinking';
      this.#held = text.slice(OPEN.length).trimStart();
    } else if (!OPEN.startsWith(text)) yield* this.#goOnWith(this.#held, answer);
  }

  *#think(answer: StreamedAnswer): Generator<StreamEvent> {
    const close = this.#held.indexOf(CLOSE);
    const end = close === -1 ? this.#held.length - partOfClose(this.#held) : close;
    const thought = close === -1 ? this.#held.slice(0, end) : this.#held.slice(0, end).trimEnd();
    yield* answer.piece('thinking', thought);
    if (thought !== '') yield* answer.seal('thinking', { field: 'content' });
    this.#held = this.#held.slice(close === -1 ? end : end + CLOSE.length);
    if (close !== -1) this.#place = 'behind';
  }

  /** Continues as plain text. The answer begins with its first visible character. */
  *#goOn(answer: StreamedAnswer): Generator<StreamEvent> {
    const text = this.#held.trimStart();
    if (text !== '') yield* this.#goOnWith(text, answer);
  }

  *#goOnWith(text: string, answer: StreamedAnswer): Generator<StreamEvent> {
    this.#place = 'text';
    this.#held = '';
    yield* answer.piece('text', text);
  }
}

/** The number of characters at the end of a text that may begin the closing tag. */
function partOfClose(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (CLOSE.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
