import type { ContentBlockParam, TextCitationParam, WebSearchTool20250305 } from '@anthropic-ai/sdk/resources/messages';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import type { AnswerPart, Usage } from '../../chat/message.js';
import { jsonText } from '../../chat/nesting.js';
import type { ChatRequest } from '../../chat/request.js';
import { asSources } from '../../chat/source.js';
import { addUsage, NO_USAGE } from '../../chat/usage.js';
import type { StreamedAnswer } from '../common/answer/streamed-answer.js';
import { offersWeb } from '../common/request/web-search.js';

/** A page that the text which is open cites. The citation goes back with the text. */
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

/** How often one answer may search. */
const MOST_SEARCHES = 8;

/** The search of Anthropic's own servers, where it is offered. */
export function toVendorSearch(request: ChatRequest): WebSearchTool20250305[] {
  if (!offersWeb(request)) return [];
  return [{ type: 'web_search_20250305', name: 'web_search', max_uses: MOST_SEARCHES }];
}

/** A part of an earlier answer with what it cites. Where no search is offered, earlier ones and what cites them are left out. */
export function withSearch(part: AnswerPart, blocks: ContentBlockParam[], request: ChatRequest): ContentBlockParam[] {
  const isOffered = offersWeb(request);
  if (!isOffered && part.type === 'vendor') return blocks.filter(({ type }) => !SEARCH_BLOCKS.has(type));
  const cited = part.type === 'text' ? part.opaque?.citations : undefined;
  if (!isOffered || !Array.isArray(cited)) return blocks;
  const citations = cited.filter(isCitation);
  return blocks.map((block) => (block.type === 'text' ? { ...block, citations } : block));
}

const SEARCH_BLOCKS: ReadonlySet<string> = new Set(['server_tool_use', 'web_search_tool_result']);

/** What the API sent as a citation, it takes back as one. */
function isCitation(value: unknown): value is TextCitationParam {
  return isJsonObject(value) && value.type === 'web_search_result_location';
}

/** How often a paused answer is sent back in one turn. */
const MOST_PAUSES = 10;

type End = Extract<StreamEvent, { type: 'end' }>;

/**
 * One answer out of all its pieces: a search that takes long pauses the answer, and the server goes on with it when it gets back what it has said.
 * `once` asks for a piece, and notes in `state` when it ends in a pause.
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
