import type { StreamEvent } from '../../chat/event.js';

type Piece = Extract<StreamEvent, { readonly type: 'text' | 'thinking' }>;

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
    const end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    if (end > 0) yield { type: event.type, text: text.slice(0, end).toWellFormed() };
    held = end < text.length ? { type: event.type, text: text.slice(end) } : null;
  }
  if (held !== null) yield wellFormed(held);
}

const wellFormed = ({ type, text }: Piece): Piece => ({ type, text: text.toWellFormed() });
