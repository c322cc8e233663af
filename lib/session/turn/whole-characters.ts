import type { StreamEvent } from '../../chat/event.js';

type Piece = Extract<StreamEvent, { readonly type: 'text' | 'thinking' }>;

/** Longer pieces are split, in characters: the screen waits for a slow terminal after each, and an answer's limit can fall between them. */
const LONGEST_PIECE = 16_384;

/**
 * The same events with no character cut in two: half a surrogate pair at the end of a piece waits for the next piece of its kind.
 * An unpaired half becomes U+FFFD, which is also how it is stored and written.
 */
export async function* wholeCharacters(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  let held: Piece | null = null;
  for await (const event of events) {
    if (held !== null && held.type !== event.type) {
      yield wellFormed(held);
      held = null;
    }
    if (event.type !== 'text' && event.type !== 'thinking') {
      yield event;
      continue;
    }
    const text: string = (held?.text ?? '') + event.text;
    const end = wholeUntil(text, text.length);
    for (let at = 0, next = 0; at < end; at = next) {
      next = at + LONGEST_PIECE < end ? wholeUntil(text, at + LONGEST_PIECE) : end;
      yield { type: event.type, text: text.slice(at, next).toWellFormed() };
    }
    held = end < text.length ? { type: event.type, text: text.slice(end) } : null;
  }
  if (held !== null) yield wellFormed(held);
}

/** The same offset, or the one before if it would split a character. */
function wholeUntil(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

const wellFormed = ({ type, text }: Piece): Piece => ({ type, text: text.toWellFormed() });
