import type {
  ResponseFunctionWebSearch,
  ResponseOutputMessage,
  ResponseOutputText,
  WebSearchTool,
} from 'openai/resources/responses/responses';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject, type JsonValue, jsonText, parseObject } from '../../chat/json.js';
import { asSources, type Source, uniqueSources } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
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

/** The pages that a search has read, which `include` asks for. */
export function readPages({ action }: ResponseFunctionWebSearch): readonly Source[] {
  const pages = action?.type === 'search' ? (action.sources ?? []) : [];
  return asSources(pages.map(({ url }) => [url]));
}

/** What stands behind the sentences of a message, to be sent back with it; nothing if that is nothing. */
export function citationsOf({ content }: ResponseOutputMessage): JsonObject {
  const notes = content.flatMap((part) => (part.type === 'output_text' ? (part.annotations ?? []) : []));
  return notes.length === 0 ? {} : { annotations: parseObject(jsonText({ notes }))?.notes ?? [] };
}

/** The same, as the API accepts it. */
export function toAnnotations(stored: JsonValue | undefined): ResponseOutputText['annotations'] {
  return Array.isArray(stored) ? stored.filter(isCitation) : [];
}

const isCitation = (note: unknown): note is ResponseOutputText.URLCitation =>
  isJsonObject(note) && note.type === 'url_citation';
