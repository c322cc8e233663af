import type { Part } from './message.js';
import { asTokens, estimateTokens, IMAGE_TOKENS, type Tokens } from './tokens.js';

/** What a part adds to a request: its characters, and how many flat-cost images. */
export interface PartSize {
  readonly characters: number;
  readonly images: number;
}

/** The size of one part as the estimate sees it. Thinking and vendor blocks count, for they are sent back. */
export function sizeOfPart(part: Part): PartSize {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return { characters: part.text.length, images: 0 };
    case 'image':
    case 'document':
      return { characters: 0, images: 1 };
    case 'tool_call':
      return { characters: part.name.length + JSON.stringify(part.args).length, images: 0 };
    case 'tool_result':
      return { characters: (part.error ?? JSON.stringify(part.result)).length, images: 0 };
    case 'vendor':
      return { characters: JSON.stringify(part.opaque).length, images: 0 };
  }
}

/** The chars/4 estimate of all parts together, with the flat cost of their images. */
export function estimateParts(parts: Iterable<Part>): Tokens {
  let characters = 0;
  let images = 0;
  for (const part of parts) {
    const size = sizeOfPart(part);
    characters += size.characters;
    images += size.images;
  }
  return asTokens(estimateTokens(characters) + images * IMAGE_TOKENS);
}
