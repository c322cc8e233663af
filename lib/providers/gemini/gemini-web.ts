import type { GroundingMetadata } from '@google/genai/web';
import type { StreamEvent } from '../../chat/event.js';
import { asSources } from '../../chat/source.js';

/** The pages of a search that went into the answer. */
export function* readGrounding(grounding: GroundingMetadata | undefined): Generator<StreamEvent> {
  if (!grounding?.groundingChunks?.length && !grounding?.webSearchQueries?.length) return;
  const pages = grounding.groundingChunks ?? [];
  yield { type: 'sources', sources: asSources(pages.map(({ web }) => [web?.uri, web?.title])) };
}
