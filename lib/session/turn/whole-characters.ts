import type { StreamEvent } from '../../chat/event.js';

type Piece = Extract<StreamEvent, { readonly type: 'text' | 'thinking' }>;

/** A longer piece comes as several, in characters: whoever shows them waits after each for a slow terminal, and the limit of an answer can fall between them. */
const LONGEST_PIECE = 16_384;

/**
 * The same events with no character cut in two: half a surrogate pair at the end of a piece waits for the next one of its kind.
 * A half that stays alone comes as U+FFFD, as which it is stored and written.
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

/** The same place, or one before it where that is between the halves of a character. */
function wholeUntil(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

const wellFormed = ({ type, text }: Piece): Piece => ({ type, text: text.toWellFormed() });
