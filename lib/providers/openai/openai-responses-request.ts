import type {
  FunctionTool,
  ResponseCreateParams,
  ResponseFunctionWebSearch,
  ResponseInputContent,
  ResponseInputItem,
  ResponseOutputMessage,
  ResponseOutputText,
  WebSearchTool,
} from 'openai/resources/responses/responses';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject, type JsonValue, jsonText, parseObject } from '../../chat/json.js';
import type { ChatRequest, ToolSpec } from '../../chat/request.js';
import { asSources, type Source, uniqueSources } from '../../chat/web-source.js';
import { unreachable } from '../../errors.js';
import { offersWeb, wantsStream } from '../common/fit-request.js';
import {
  FREE_FORM,
  formTurns,
  normaliseHistory,
  replaceSurrogates,
  resultText,
  shortId,
  systemTexts,
  type TurnForm,
  type UserPart,
  type VendorTurn,
} from '../common/normalise-history.js';
import { base64Of, missingText } from '../common/request-media.js';
import type { SentRequest } from '../common/vendor-schema.js';
import { canReason, effortOf, type OpenAIFormat } from './openai-models.js';

type AnswerTurnPart = Extract<VendorTurn, { role: 'assistant' }>['content'][number];

/**
 * The request in the form of the Responses API. The server stores nothing, so the model's reasoning arrives encrypted
 * and is sent back.
 */
export function toVendorRequest(
  request: SentRequest<OpenAIFormat>,
  provider: string,
  form: TurnForm,
): ResponseCreateParams {
  const { model, tools, max_output_tokens } = request;
  const extras = request.facts?.takes?.extras !== false;
  return {
    model,
    input: toVendorMessages(request, provider, form),
    stream: wantsStream(request),
    // OpenAI itself would store the conversation.
    ...((extras || !form.strict) && { store: false }),
    ...((tools.length > 0 || offersWeb(request)) && {
      tools: [...toVendorTools(tools), ...toVendorSearch(request, form)],
    }),
    ...(request.tool_choice && { tool_choice: request.tool_choice }),
    ...(extras && toVendorCache(request)),
    ...toVendorOptions(request),
    // The API's minimum is 16.
    ...(max_output_tokens !== null && { max_output_tokens: Math.max(16, max_output_tokens) }),
    ...(extras && toVendorIncludes(request)),
    ...(canReason(model) && toVendorThinking(request)),
  };
}

/** How long a request without a time is kept, in milliseconds. */
const SHORT_CACHE = 30 * 60_000;

/** `explicit` without a breakpoint keeps nothing. The SDK does not know `12h` yet. */
function toVendorCache({ cache }: ChatRequest): object {
  const life = cache?.life ?? SHORT_CACHE;
  const options = life === 0 ? { mode: 'explicit' } : { ttl: '12h' };
  return {
    ...(cache?.key && { prompt_cache_key: cache.key }),
    ...((life === 0 || life > SHORT_CACHE) && { prompt_cache_options: options }),
  };
}

/** Included only on request: the reasoning to be sent back, and the pages that a search has read. */
function toVendorIncludes(request: ChatRequest): Pick<ResponseCreateParams, 'include'> {
  const include: ResponseCreateParams['include'] = [
    ...(canReason(request.model) ? (['reasoning.encrypted_content'] as const) : []),
    ...(offersWeb(request) ? (['web_search_call.action.sources'] as const) : []),
  ];
  return include.length > 0 ? { include } : {};
}

export function toVendorTools(tools: readonly ToolSpec[]): FunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters: { ...parameters },
    strict: false,
  }));
}

/** The system text, then the conversation. Text and calls are separate items. */
export function toVendorMessages(request: ChatRequest, provider: string, form = FREE_FORM): ResponseInputItem[] {
  return [
    ...systemTexts(request.system, form).map((content) => ({ role: 'system' as const, content })),
    ...formTurns(normaliseHistory(request, provider), { ...form, textBesideCalls: true }).flatMap(
      (turn): ResponseInputItem[] => {
        switch (turn.role) {
          case 'user':
            return [{ role: 'user', content: toVendorContent(turn.content, request) }];
          case 'assistant':
            return toVendorAnswer(turn.content);
          case 'tool':
            return turn.content.map((part) => ({
              type: 'function_call_output',
              call_id: vendorId(part.call_id),
              output: replaceSurrogates(resultText(part)),
            }));
          default:
            return unreachable(turn);
        }
      },
    ),
  ];
}

function toVendorContent(parts: readonly UserPart[], { attachments }: ChatRequest): string | ResponseInputContent[] {
  if (parts.every((part) => part.type === 'text')) return parts.map((part) => part.text).join('\n\n');
  return parts.map((part): ResponseInputContent => {
    if (part.type === 'text') return { type: 'input_text', text: part.text };
    const data = base64Of(part, attachments);
    if (data === null) return { type: 'input_text', text: missingText(part) };
    const url = `data:${part.mime};base64,${data}`;
    if (part.type === 'image') return { type: 'input_image', image_url: url, detail: 'auto' };
    return { type: 'input_file', filename: part.name ?? 'document.pdf', file_data: url };
  });
}

/**
 * A reasoning item and the item after it belong together: the API rejects either without the other. So reasoning is
 * sent back only before its item. If that is impossible (the answer was interrupted, or nothing was encrypted), the
 * item is sent without its id.
 */
function toVendorAnswer(parts: readonly AnswerTurnPart[]): ResponseInputItem[] {
  let alone = false;
  return parts.flatMap((part, at): ResponseInputItem[] => {
    if (part.type !== 'thinking') return toVendorItem(part, alone);
    const item = part.opaque?.item;
    if (item === undefined) return [];
    const next = parts.slice(at + 1).find((other) => other.type !== 'thinking');
    const leads =
      next?.opaque !== undefined && isItem(item) && 'encrypted_content' in item && Boolean(item.encrypted_content);
    alone = !leads;
    return leads ? [item] : [];
  });
}

function toVendorItem(part: Exclude<AnswerTurnPart, { type: 'thinking' }>, alone: boolean): ResponseInputItem[] {
  const id = !alone && typeof part.opaque?.id === 'string' ? part.opaque.id : null;
  switch (part.type) {
    case 'text': {
      if (part.text === '') return [];
      if (id === null) return [{ role: 'assistant', content: part.text }];
      const content = part.opaque?.refusal
        ? { type: 'refusal' as const, refusal: part.text }
        : { type: 'output_text' as const, text: part.text, annotations: toAnnotations(part.opaque?.annotations) };
      const phase = part.opaque?.phase;
      return [
        {
          type: 'message',
          role: 'assistant',
          id,
          status: 'completed',
          content: [content],
          ...((phase === 'commentary' || phase === 'final_answer') && { phase }),
        },
      ];
    }
    case 'tool_call':
      return [
        {
          type: 'function_call',
          ...(id !== null && { id }),
          call_id: vendorId(part.call_id),
          name: part.name,
          arguments: JSON.stringify(part.args),
        },
      ];
    case 'vendor':
      return isItem(part.opaque.item) ? [part.opaque.item] : [];
    default:
      return unreachable(part);
  }
}

/** The API accepts every item that it sent. */
function isItem(value: unknown): value is ResponseInputItem {
  return isJsonObject(value) && typeof value.type === 'string';
}

function vendorId(call_id: string): string {
  return call_id.length <= 64 ? call_id : shortId(call_id);
}

function toVendorThinking({ model, thinking, facts, options }: ChatRequest): Pick<ResponseCreateParams, 'reasoning'> {
  if (thinking === null) return {};
  const isShown = thinking !== 'off' && facts?.takes?.summaries !== false;
  const given = isJsonObject(options?.reasoning) ? options.reasoning : {};
  return { reasoning: { ...given, effort: effortOf(model, thinking), ...(isShown && { summary: 'auto' as const }) } };
}

/** The options under the names of this API, which has `verbosity` in another place. */
function toVendorOptions({ options = {}, format }: SentRequest<OpenAIFormat>): object {
  const { verbosity, ...rest } = options;
  const text = {
    ...(verbosity !== undefined && { verbosity }),
    ...(format && { format: { type: 'json_schema', ...format } }),
  };
  return Object.keys(text).length === 0 ? rest : { ...rest, text };
}

/** OpenAI's own search, if the request offers it. Without a place it would search for the United States. */
function toVendorSearch(request: ChatRequest, { strict }: TurnForm): WebSearchTool[] {
  if (!offersWeb(request)) return [];
  if (strict && request.place === undefined) return [{ type: 'web_search' }];
  return [{ type: 'web_search', user_location: { ...request.place, type: 'approximate' } }];
}

/** Reads the pages that a message cites, and for what. Other servers may omit the list. */
export function* readAnnotations({ content }: ResponseOutputMessage): Generator<StreamEvent> {
  const cited = content.flatMap((part) => {
    if (part.type !== 'output_text') return [];
    const notes = (part.annotations ?? []).filter((note) => note.type === 'url_citation');
    return asSources(notes.map((note) => [note.url, note.title, passageOf(part, note)]));
  });
  if (cited.length > 0) yield { type: 'sources', sources: uniqueSources(cited) };
}

/**
 * What a citation is about: the sentence before it, as it is a link behind that; what it covers where nothing is before
 * it.
 */
function passageOf({ text }: ResponseOutputText, { start_index, end_index }: ResponseOutputText.URLCitation): string {
  const before = text.slice(0, start_index).trimEnd();
  if (before === '') return text.slice(start_index, end_index);
  const ends = ['. ', '! ', '? ', '。', '\n'].map((end) => before.lastIndexOf(end, before.length - 2));
  return before.slice(ends.reduce((last, end) => Math.max(last, end), -1) + 1);
}

/** The pages that a search has read, which `include` asks for. */
export function readPages({ action }: ResponseFunctionWebSearch): readonly Source[] {
  const pages = action?.type === 'search' ? (action.sources ?? []) : [];
  return asSources(pages.map(({ url }) => [url]));
}

/** The citations of a message, to be sent back with it; empty if there are none. */
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
