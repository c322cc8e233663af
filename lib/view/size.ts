import { sizeOfPart } from '../chat/media.js';
import type { Message } from '../chat/message.js';
import { estimateTokens, IMAGE_TOKENS, type Tokens } from '../chat/request.js';

const KNOWN = new WeakMap<Message, number>();

/** The size of a message in characters; an image counts with a fixed number. Cached, because views are measured before every request. */
export function charactersOf(message: Message): number {
  const known = KNOWN.get(message);
  if (known !== undefined) return known;
  let characters = 0;
  for (const part of message.content) {
    const size = sizeOfPart(part);
    characters += size.characters + size.images * IMAGE_TOKENS * 4;
  }
  KNOWN.set(message, characters);
  return characters;
}

/** The characters of all messages together. */
export function totalCharacters(messages: readonly Message[]): number {
  let characters = 0;
  for (const message of messages) characters += charactersOf(message);
  return characters;
}

/** The chars/4 estimate of a view: its messages and the summary of older ones. */
export function estimateView(view: {
  readonly messages: readonly Message[];
  readonly block: { readonly content: string } | null;
}): Tokens {
  return estimateTokens(totalCharacters(view.messages) + (view.block?.content.length ?? 0));
}
