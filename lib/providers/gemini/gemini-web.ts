import type { GroundingMetadata } from '@google/genai/web';
import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { asSources } from '../../chat/source.js';
import { offersWeb } from '../common/request/web-search.js';

/** The pages of a search that went into the answer. */
export function* readGrounding(grounding: GroundingMetadata | undefined): Generator<StreamEvent> {
  if (!grounding?.groundingChunks?.length && !grounding?.webSearchQueries?.length) return;
  const pages = grounding.groundingChunks ?? [];
  yield { type: 'sources', sources: asSources(pages.map(({ web }) => [web?.uri, web?.title])) };
}

/** Gemini before its third generation takes either functions or a search. */
export const EITHER = /gemini-[12]\b/;

/** Whether Google's search goes with the request: where it cannot go beside the tools, only when it was asked for by name. */
export function canSearch(request: ChatRequest): boolean {
  if (!offersWeb(request)) return false;
  return request.web === 'on' || request.tools.length === 0 || !EITHER.test(request.model);
}

/** Whether the search takes the place of the tools. */
export function searchesAlone(request: ChatRequest): boolean {
  return canSearch(request) && request.tools.length > 0 && EITHER.test(request.model);
}

/** The notice for it. */
export function aloneText({ model }: ChatRequest): string {
  return `${model} takes a web search or tools, not both: it has no tools while it may search (/web off, --no-web).`;
}
