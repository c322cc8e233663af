import type { ChatEvent, StreamEvent } from '../../chat/event.js';
import { gapBetween, isPart } from '../../chat/message.js';
import { Pieces } from '../../chat/text.js';
import { citationsIn, joinSources, type Source } from '../../chat/web-source.js';
import type { PartialAnswer } from './failed-request.js';

type Piece = Extract<StreamEvent, { readonly type: 'text' | 'thinking' }>;

/**
 * Longer pieces are split, in characters: the screen waits for a slow terminal after each, and an answer's limit can
 * fall between them.
 */
const LONGEST_PIECE = 16_384;

/**
 * The same events with no character cut in two: half a surrogate pair at the end of a piece waits for the next piece of
 * its kind. An unpaired half becomes U+FFFD, which is also how it is stored and written.
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

/** Puts the pieces of an answer together. */
export class ArrivingAnswer {
  readonly #answer: PartialAnswer;
  readonly #text = new Pieces();
  readonly #thinking = new Pieces();
  /** Whether a text has begun that the vendor has not sent as a part yet. */
  #isOpen = false;
  /** The number of characters so far. */
  length = 0;

  constructor(answer: PartialAnswer) {
    this.#answer = answer;
  }

  /** Returns what the screen shows of the event. */
  add(event: Exclude<StreamEvent, { readonly type: 'image' | 'notice' | 'facts' }>): readonly ChatEvent[] {
    switch (event.type) {
      case 'text':
        return this.#addText(event);
      case 'thinking':
        this.#thinking.add(event.text);
        this.length += event.text.length;
        return [event];
      case 'part':
        this.#answer.parts.push(event.part);
        this.#text.take();
        this.#thinking.take();
        this.#isOpen = false;
        return [];
      case 'end':
        this.#answer.end = event;
        return [];
      case 'sources':
        return this.#cite(event.sources);
    }
  }

  /**
   * Keeps text that was shown even if its part is unfinished. Unfinished thinking has no signature and cannot be sent
   * back.
   */
  keepUnfinished(): void {
    for (const [type, pieces] of [['thinking', this.#thinking] as const, ['text', this.#text] as const]) {
      const text = pieces.take();
      if (text !== '') this.#answer.parts.push({ type, text });
    }
  }

  #addText(event: Extract<StreamEvent, { readonly type: 'text' }>): readonly ChatEvent[] {
    const gap = this.#isOpen ? '' : gapBefore(event.text, this.#answer);
    this.#isOpen = true;
    this.#text.add(event.text);
    this.length += event.text.length;
    return gap === '' ? [event] : [{ type: 'text', text: gap }, event];
  }

  #cite(sources: readonly Source[]): readonly ChatEvent[] {
    this.#answer.sources = joinSources(this.#answer.sources ?? [], sources);
    const open = this.#text.take();
    this.#text.add(open);
    return citation(sources, open, this.#answer);
  }
}

/** What begins a new paragraph after a search, which shows nothing of itself. */
function gapBefore(text: string, { parts }: PartialAnswer): string {
  const at = parts.findLastIndex((part) => part.type === 'text' && part.text !== '');
  const before = parts[at];
  return before?.type === 'text' && parts.slice(at).some(isPart('vendor')) ? gapBetween(before.text, text) : '';
}

/**
 * The numbers of the sources that the text which just ended rests on. Nothing if one of them is about an earlier place,
 * which has been shown.
 */
function citation(
  sources: readonly Source[],
  open: string,
  { parts, earlier = [], sources: own = [] }: PartialAnswer,
): readonly ChatEvent[] {
  const last = parts.at(-1);
  const text = open === '' && last?.type === 'text' ? last.text : open;
  const cited = sources.filter(({ cited: passages = [] }) => passages.length > 0);
  const [place, ...others] = citationsIn(text, cited);
  if (place === undefined || others.length > 0 || !/^[ \t]*$/.test(text.slice(place.at))) return [];
  if (place.numbers.length < cited.length) return [];
  const urls = joinSources(earlier, own).map(({ url }) => url);
  return [{ type: 'citation', numbers: cited.map(({ url }) => urls.indexOf(url) + 1).sort((one, two) => one - two) }];
}
