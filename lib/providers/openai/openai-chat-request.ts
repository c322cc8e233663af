import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
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
import type { SentRequest } from '../common/schema/sent-request.js';
import { canReason, effortOf } from './openai-models.js';
import type { OpenAIFormat } from './openai-schema.js';

type AssistantTurn = Extract<VendorTurn, { role: 'assistant' }>;

/** The request in the form of Chat Completions. `compatible`: a server that may know only the older names. */
export function toVendorRequest(
  request: SentRequest<OpenAIFormat>,
  provider: string,
  { compatible, form }: { readonly compatible: boolean; readonly form: TurnForm },
): ChatCompletionCreateParams {
  const limit = request.max_output_tokens;
  const extras = request.facts?.takes?.extras !== false;
  const stream = wantsStream(request);
  return {
    model: request.model,
    messages: toVendorMessages(request, provider, form),
    stream,
    ...(extras && stream && { stream_options: { include_usage: true } }),
    ...(extras && !compatible && request.cache?.key && { prompt_cache_key: request.cache.key }),
    ...(request.format && { response_format: { type: 'json_schema' as const, json_schema: request.format } }),
    ...(request.tools.length > 0 && { tools: toVendorTools(request.tools) }),
    ...(limit !== null && (compatible ? { max_tokens: limit } : { max_completion_tokens: limit })),
    ...(request.thinking !== null &&
      canReason(request.model) && {
        reasoning_effort: effortOf(request.model, request.thinking),
      }),
  };
}

/** The system text, then the conversation. */
export function toVendorMessages(
  request: ChatRequest,
  provider: string,
  form = FREE_FORM,
): ChatCompletionMessageParam[] {
  const turns = formTurns(normaliseHistory(request, provider), form);
  const names = vendorIds(turns);
  const lastUser = turns.findLastIndex((turn) => turn.role === 'user');
  return [
    ...systemTexts(request.system, form).map((content) => ({ role: 'system' as const, content })),
    ...turns.flatMap((turn, at): ChatCompletionMessageParam[] => {
      switch (turn.role) {
        case 'user':
          return [{ role: 'user', content: toVendorContent(turn.content, request) }];
        case 'assistant':
          return toVendorAnswer(turn, names, at > lastUser);
        case 'tool':
          return turn.content.map((part) => ({
            role: 'tool',
            tool_call_id: names.get(part.call_id) ?? part.call_id,
            content: replaceSurrogates(resultText(part)),
          }));
        default:
          return unreachable(turn);
      }
    }),
  ];
}

export function toVendorTools(tools: readonly ToolSpec[]): ChatCompletionFunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: { ...parameters } },
  }));
}

/** The ids that earlier versions of hi created for calls without one. */
const MADE_HERE = /^call_[0-9a-f]{20}$/;

/** The ids of the calls: their own in this model's answers. OpenAI accepts up to 40 characters, Mistral exactly nine letters and digits. */
function vendorIds(turns: readonly VendorTurn[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue;
    for (const part of turn.content) {
      if (part.type === 'tool_call') {
        const isKept = turn.own && part.call_id.length <= 40 && !MADE_HERE.test(part.call_id);
        names.set(part.call_id, isKept ? part.call_id : shortId(part.call_id));
      }
    }
  }
  return names;
}

/** Text only is sent as one string, which even simple servers understand. */
function toVendorContent(parts: readonly UserPart[], request: ChatRequest): string | ChatCompletionContentPart[] {
  if (parts.every((part) => part.type === 'text')) return parts.map((part) => part.text).join('\n\n');
  return parts.map((part): ChatCompletionContentPart => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const data = base64Of(part, request.attachments);
    if (data === null) return { type: 'text', text: missingText(part) };
    const url = `data:${part.mime};base64,${data}`;
    if (part.type === 'image') return { type: 'image_url', image_url: { url } };
    return { type: 'file', file: { filename: part.name ?? 'document.pdf', file_data: url } };
  });
}

/**
 * `reasoning_content` is sent back within the running turn only: DeepSeek and similar models require it between tool calls, and ignore or reject
 * it later. OpenRouter's `reasoning_details` and Google's `extra_content` are always sent back.
 */
function toVendorAnswer(
  { content }: AssistantTurn,
  names: ReadonlyMap<string, string>,
  running: boolean,
): ChatCompletionMessageParam[] {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const thoughts = content.flatMap((part) => (part.type === 'thinking' ? [part] : []));
  const calls = content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  const reasoning = thoughts
    .filter((part) => part.opaque?.field === 'reasoning_content')
    .map((part) => part.text)
    .join('');
  // Each part includes the details of all earlier ones.
  const details = thoughts.findLast((part) => part.opaque?.details !== undefined)?.opaque?.details;
  // An answer that was interrupted while thinking has no text, and some servers reject empty messages.
  if (text === '' && calls.length === 0) return [];
  const message = {
    role: 'assistant' as const,
    content: text === '' ? null : text,
    ...(running && reasoning !== '' && { reasoning_content: reasoning }),
    ...(details !== undefined && { reasoning_details: details }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((part) => ({
        id: names.get(part.call_id) ?? part.call_id,
        type: 'function' as const,
        function: { name: part.name, arguments: JSON.stringify(part.args) },
        ...(part.opaque?.extra_content !== undefined && { extra_content: part.opaque.extra_content }),
      })),
    }),
  };
  return [message];
}
