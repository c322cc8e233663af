import type {
  FunctionTool,
  ResponseCreateParams,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import { isJsonObject } from '../../chat/json.js';
import type { ChatRequest, ToolSpec } from '../../chat/request.js';
import { unreachable } from '../../errors.js';
import { base64Of, missingText } from '../common/media/attachment.js';
import { shortId } from '../common/request/call-ids.js';
import {
  normaliseHistory,
  replaceSurrogates,
  resultText,
  type UserPart,
  type VendorTurn,
} from '../common/request/normalise-history.js';
import { FREE_FORM, formTurns, systemTexts, type TurnForm } from '../common/request/template-turns.js';
import { wantsStream } from '../common/request/wants-stream.js';
import { offersWeb } from '../common/request/web-search.js';
import type { SentRequest } from '../common/schema/sent-request.js';
import { canReason, effortOf } from './openai-models.js';
import { toAnnotations, toVendorSearch } from './openai-responses-web.js';
import type { OpenAIFormat } from './openai-schema.js';

type AnswerTurnPart = Extract<VendorTurn, { role: 'assistant' }>['content'][number];

/** The request in the form of the Responses API. The server stores nothing, so the model's reasoning arrives encrypted and is sent back. */
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
    ...((tools.length > 0 || offersWeb(request)) && { tools: [...toVendorTools(tools), ...toVendorSearch(request)] }),
    ...(extras && request.cache?.key && { prompt_cache_key: request.cache.key }),
    ...toVendorOptions(request),
    // The API's minimum is 16.
    ...(max_output_tokens !== null && { max_output_tokens: Math.max(16, max_output_tokens) }),
    ...(extras && toVendorIncludes(request)),
    ...(canReason(model) && toVendorThinking(request)),
  };
}

/** What the answer holds only on request: the reasoning to be sent back, and the pages that a search has read. */
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
 * A reasoning item and the item after it belong together: the API rejects either without the other. So reasoning is sent back only before
 * its item. If that is impossible (the answer was interrupted, or nothing was encrypted), the item is sent without its id.
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

function toVendorThinking({ model, thinking, facts }: ChatRequest): Pick<ResponseCreateParams, 'reasoning'> {
  if (thinking === null) return {};
  const isShown = thinking !== 'off' && facts?.takes?.summaries !== false;
  return { reasoning: { effort: effortOf(model, thinking), ...(isShown && { summary: 'auto' as const }) } };
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
