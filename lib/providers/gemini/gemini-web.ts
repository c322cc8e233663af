import type { GroundingMetadata } from '@google/genai/web';
import type { StreamEvent } from '../../chat/event.js';
import { asSources } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { offersWeb } from '../common/request/web-search.js';

/** Reads the pages that the answer is based on. */
export function* readGrounding(grounding: GroundingMetadata | undefined): Generator<StreamEvent> {
  if (!grounding?.groundingChunks?.length && !grounding?.webSearchQueries?.length) return;
  const pages = grounding.groundingChunks ?? [];
  yield { type: 'sources', sources: asSources(pages.map(({ web }) => [web?.uri, web?.title])) };
}

/** Gemini before its third generation supports either functions or a search. */
export const EITHER = /gemini-[12]\b/;

/** Whether the request includes Google's search. If that excludes the tools, only when the user asked for it explicitly. */
export function canSearch(request: ChatRequest): boolean {
  if (!offersWeb(request)) return false;
  return request.web === 'on' || request.tools.length === 0 || !EITHER.test(request.model);
}

/** Whether the search replaces the tools. */
export function searchesAlone(request: ChatRequest): boolean {
  return canSearch(request) && request.tools.length > 0 && EITHER.test(request.model);
}

/** The notice for it. */
export function aloneText({ model }: ChatRequest): string {
  return `${model} supports a web search or tools, not both: it has no tools while web search is on (/web off, --no-web).`;
}
