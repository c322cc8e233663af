import type {
  ContentBlockParam,
  TextCitationParam,
  WebSearchTool20250305,
  WebSearchTool20260318,
} from '@anthropic-ai/sdk/resources/messages';
import { addUsage, NO_USAGE, type StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject, jsonText, parseObject } from '../../chat/json.js';
import type { AnswerPart, Usage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { asSources, type Source, uniqueSources } from '../../chat/web-source.js';
import { offersWeb } from '../common/fit-request.js';
import type { StreamedAnswer } from '../common/streamed-answer.js';

/** Reads a citation in the open text. The citation is sent back with the text. */
export function* readCitation(
  citation: unknown,
  state: { cited: readonly JsonObject[] },
  answer: StreamedAnswer,
): Generator<StreamEvent> {
  if (!isJsonObject(citation) || citation.type !== 'web_search_result_location') return;
  const kept = parseObject(jsonText(citation));
  if (kept === null) return;
  state.cited = [...state.cited, kept];
  yield* answer.seal('text', { citations: state.cited });
  yield { type: 'sources', sources: asSources([[citation.url, citation.title]]) };
}

/** Ends the open text or thinking. A text with citations is what they are about. */
export function* closeCited(
  { cited }: { readonly cited: readonly JsonObject[] },
  answer: StreamedAnswer,
): Generator<StreamEvent> {
  for (const event of answer.close()) {
    yield event;
    if (cited.length === 0 || event.type !== 'part' || event.part.type !== 'text') continue;
    const { text } = event.part;
    yield { type: 'sources', sources: uniqueSources(asSources(cited.map(({ url, title }) => [url, title, text]))) };
  }
}

/** The pages that a search has read. */
export function readPages({ content }: JsonObject): readonly Source[] {
  return asSources(Array.isArray(content) ? content.filter(isJsonObject).map(({ url, title }) => [url, title]) : []);
}

/** The maximum number of searches in one answer. */
const MOST_SEARCHES = 8;

/** The models without the search that filters what it found before they read it, which is shorter and better. */
const OLDER = /claude-(?:[23](?!\d)|instant|[a-z]+-4(?:-[0-5])?(?=-\d{8}|@|$))/;

/**
 * Anthropic's own search, if the request offers it, in its newest version. The older one where another server, such as
 * Google's, runs the models: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
 */
export function toVendorSearch(
  request: ChatRequest,
  isOwn: boolean,
): (WebSearchTool20250305 | WebSearchTool20260318)[] {
  if (!offersWeb(request)) return [];
  const type = isOwn && !OLDER.test(request.model) ? 'web_search_20260318' : 'web_search_20250305';
  const place = request.place && { user_location: { ...request.place, type: 'approximate' as const } };
  return [{ type, name: 'web_search', max_uses: MOST_SEARCHES, ...place }];
}

/**
 * Adds a part of an earlier answer with its citations. Without a search in the request, earlier searches and their
 * citations are left out.
 */
export function withSearch(part: AnswerPart, blocks: ContentBlockParam[], request: ChatRequest): ContentBlockParam[] {
  const isOffered = offersWeb(request);
  if (!isOffered && part.type === 'vendor') return blocks.filter(({ type }) => !OF_HOSTED_TOOLS.test(type));
  const cited = part.type === 'text' ? part.opaque?.citations : undefined;
  if (!isOffered || !Array.isArray(cited)) return blocks;
  const citations = cited.filter(isCitation);
  return blocks.map((block) => (block.type === 'text' ? { ...block, citations } : block));
}

/** Calls of Anthropic's own tools and their results, which the API rejects without each other. */
const OF_HOSTED_TOOLS = /^server_tool_use$|_tool_result$/;

/** The API accepts every citation that it sent. */
function isCitation(value: unknown): value is TextCitationParam {
  return isJsonObject(value) && value.type === 'web_search_result_location';
}

/** The maximum number of times a paused answer is sent back in one turn. */
const MOST_PAUSES = 10;

type End = Extract<StreamEvent, { type: 'end' }>;

/**
 * One answer, joined from its pieces. A long search pauses the answer, and the server continues it when it gets the
 * first piece back. `once` requests a piece and records in `state` whether it ended in a pause.
 */
export async function* withPauses(
  request: ChatRequest,
  provider: string,
  once: (request: ChatRequest, state: { isPaused: boolean }) => AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  const content: AnswerPart[] = [];
  let usage: Usage | null = null;
  for (let pauses = 0; ; pauses += 1) {
    const said = { role: 'assistant', content, provider, model: request.model } as const;
    const asked = pauses === 0 ? request : { ...request, messages: [...request.messages, said] };
    const state = { isPaused: false };
    let end: End | null = null;
    for await (const event of once(asked, state)) {
      if (event.type === 'part') content.push(event.part);
      if (event.type === 'end') end = event;
      else yield event;
    }
    if (end === null) return;
    if (end.usage !== null) usage = addUsage(usage ?? NO_USAGE, end.usage);
    if (state.isPaused && pauses < MOST_PAUSES) continue;
    if (state.isPaused)
      yield { type: 'notice', text: `The search paused ${MOST_PAUSES} times; the answer may be incomplete.` };
    return yield { ...end, usage };
  }
}
