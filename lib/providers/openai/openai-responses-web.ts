import type { ResponseOutputMessage, WebSearchTool } from 'openai/resources/responses/responses';
import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { asSources, uniqueSources } from '../../chat/source.js';
import { offersWeb } from '../common/request/web-search.js';

/** OpenAI's own search, if the request offers it. */
export function toVendorSearch(request: ChatRequest): WebSearchTool[] {
  return offersWeb(request) ? [{ type: 'web_search' }] : [];
}

/** Reads the pages that a message cites. Other servers may omit the list. */
export function* readAnnotations({ content }: ResponseOutputMessage): Generator<StreamEvent> {
  const notes = content.flatMap((part) => (part.type === 'output_text' ? (part.annotations ?? []) : []));
  const cited = asSources(notes.flatMap((note) => (note.type === 'url_citation' ? [[note.url, note.title]] : [])));
  if (cited.length > 0) yield { type: 'sources', sources: uniqueSources(cited) };
}
