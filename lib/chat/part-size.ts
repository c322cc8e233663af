import type { Part } from './message.js';
import { asTokens, estimateTokens, IMAGE_TOKENS, type Tokens } from './tokens.js';

/** The size of a part in a request: its characters, and its images, each of which counts as a fixed number of tokens. */
export interface PartSize {
  readonly characters: number;
  readonly images: number;
}

/** The size of a part for the estimate. Thinking and vendor blocks count because they are sent back. */
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

/** The estimate of all parts together: characters / 4, plus the fixed cost of each image. */
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
