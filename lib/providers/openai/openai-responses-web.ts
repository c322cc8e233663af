import type { ResponseOutputMessage, WebSearchTool } from 'openai/resources/responses/responses';
import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { asSources, uniqueSources } from '../../chat/source.js';
import { offersWeb } from '../common/request/web-search.js';

/** OpenAI's own search, where it is offered. */
export function toVendorSearch(request: ChatRequest): WebSearchTool[] {
  return offersWeb(request) ? [{ type: 'web_search' }] : [];
}

/** The pages that a message cites. Servers other than OpenAI's own may leave the list out. */
export function* readAnnotations({ content }: ResponseOutputMessage): Generator<StreamEvent> {
  const notes = content.flatMap((part) => (part.type === 'output_text' ? (part.annotations ?? []) : []));
  const cited = asSources(notes.flatMap((note) => (note.type === 'url_citation' ? [[note.url, note.title]] : [])));
  if (cited.length > 0) yield { type: 'sources', sources: uniqueSources(cited) };
}
