import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { StreamEvent } from '../../chat/event.js';
import { isPart, type Part } from '../../chat/message.js';
import type { ChatRequest, ToolSpec } from '../../chat/request.js';
import { unreachable } from '../../errors.js';
import { noSearch, offersWeb, type WebNotice, wantsStream } from '../common/fit-request.js';
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
    ...(request.tool_choice && { tool_choice: request.tool_choice }),
    ...(limit !== null && (compatible ? { max_tokens: limit } : { max_completion_tokens: limit })),
    ...toVendorEffort(request),
  };
}

/**
 * Since GPT-5.6, OpenAI's models take tools by this API only without thinking. It is used for them where there is no
 * Responses API.
 */
function toVendorEffort({
  model,
  thinking,
  tools,
  facts,
}: ChatRequest): Pick<ChatCompletionCreateParams, 'reasoning_effort'> {
  if (facts?.takes?.chat === false && tools.length > 0) return { reasoning_effort: 'none' };
  return thinking !== null && canReason(model) ? { reasoning_effort: effortOf(model, thinking) } : {};
}

/** The system text, then the conversation. */
export function toVendorMessages(
  request: ChatRequest,
  provider: string,
  form = FREE_FORM,
): ChatCompletionMessageParam[] {
  const turns = formTurns(normaliseHistory(request, provider), form);
  const names = vendorIds(turns);
  const thoughts = thoughtsToSend(turns, request.facts?.takes?.thoughts === true);
  return [
    ...systemTexts(request.system, form).map((content) => ({ role: 'system' as const, content })),
    ...turns.flatMap((turn, at): ChatCompletionMessageParam[] => {
      switch (turn.role) {
        case 'user':
          return [{ role: 'user', content: toVendorContent(turn.content, request) }];
        case 'assistant':
          return toVendorAnswer(turn, names, thoughts[at] ?? NO_THOUGHTS);
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

/**
 * The ids of the calls: their own in this model's answers. OpenAI accepts up to 40 characters, Mistral exactly nine
 * letters and digits.
 */
function vendorIds(turns: readonly VendorTurn[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue;
    for (const part of turn.content) {
      if (part.type === 'tool_call') {
        const isKept = turn.own && part.call_id.length <= 40;
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
 * Which thinking goes back with an answer: what the model thought, and an empty text in its place where it thought
 * nothing.
 */
interface SentThoughts {
  readonly own: boolean;
  readonly empty: boolean;
}

const NO_THOUGHTS: SentThoughts = { own: false, empty: false };

/**
 * In a turn with tool calls thinking goes back, then and ever after, in the field that it came in. DeepSeek and Kimi
 * refuse such a turn without `reasoning_content`, if only an empty one (api-docs.deepseek.com/guides/thinking_mode);
 * vLLM, Groq and MiniMax would lose the thread. `demanded`: the server said that every answer must have it.
 */
function thoughtsToSend(turns: readonly VendorTurn[], demanded: boolean): readonly SentThoughts[] {
  let turn = 0;
  const numbers = turns.map(({ role }) => {
    turn += role === 'user' ? 1 : 0;
    return turn;
  });
  const calls = turns.map(({ content }) => content.some(isPart('tool_call')));
  const calling = new Set(numbers.filter((_, at) => calls[at]));
  const isUsual = turns.some(({ content }) => content.some(isThoughtIn('reasoning_content')));
  return turns.map((_, at) => ({
    own: demanded || calling.has(numbers[at] ?? 0),
    empty: demanded || (isUsual && calls[at] === true),
  }));
}

/** Matches thinking that arrived in a field of the message, or between tags in its `content`. */
const isThoughtIn = (field: string) => (part: Part) => part.type === 'thinking' && part.opaque?.field === field;

const FIELDS = ['reasoning_content', 'reasoning'] as const;

/** OpenRouter's `reasoning_details` and Google's `extra_content` are always sent back. */
function toVendorAnswer(
  { content }: AssistantTurn,
  names: ReadonlyMap<string, string>,
  { own, empty }: SentThoughts,
): ChatCompletionMessageParam[] {
  const wordsOf = (parts: readonly Part[]) => parts.map((part) => ('text' in part ? part.text : '')).join('');
  const calls = content.filter(isPart('tool_call'));
  const text = wordsOf(content.filter(isPart('text')));
  // An answer that was interrupted while thinking has no text, and some servers reject empty messages.
  if (text === '' && calls.length === 0) return [];
  const thoughts = content.filter(isPart('thinking'));
  const tagged = own ? wordsOf(thoughts.filter(isThoughtIn('content'))) : '';
  const words = tagged === '' ? text : `<think>\n${tagged}\n</think>\n\n${text}`;
  // Each part includes the details of all earlier ones.
  const details = thoughts.findLast((part) => part.opaque?.details !== undefined)?.opaque?.details;
  const fields = FIELDS.filter((field) => own && details === undefined && thoughts.some(isThoughtIn(field)));
  const message = {
    role: 'assistant' as const,
    content: words === '' ? null : words,
    ...(empty && { reasoning_content: '' }),
    ...Object.fromEntries(fields.map((field) => [field, wordsOf(thoughts.filter(isThoughtIn(field)))])),
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

/** The server of a request. */
export interface ChatServer {
  readonly title: string;
  /** The host of its address. */
  readonly host: string;
}

const isAt = (host: string, name: string): boolean => host === name || host.endsWith(`.${name}`);

/** Models that always search: Perplexity's, and those of OpenAI and OpenRouter with such a name. */
const searchesItself = ({ model }: ChatRequest, { host }: ChatServer): boolean =>
  isAt(host, 'perplexity.ai') || /:online$|-search(?:-|$)|(?:^|\/)sonar/.test(model);

/**
 * The search fields of a Chat Completions request. OpenRouter's plugin searches, and costs money, with every request,
 * so it is used only if the user asked for a search explicitly.
 */
export function toVendorSearch(request: ChatRequest, server: ChatServer): { plugins?: { id: 'web' }[] } {
  const isAsked = request.web === 'on' && offersWeb(request) && !searchesItself(request, server);
  return isAsked && isAt(server.host, 'openrouter.ai') ? { plugins: [{ id: 'web' }] } : {};
}

/** Reports that the server has no search. */
export function* sayNoSearch(request: ChatRequest, server: ChatServer, notice: WebNotice): Generator<StreamEvent> {
  if (searchesItself(request, server) || 'plugins' in toVendorSearch(request, server)) return;
  yield* notice.say(request, noSearch(server.title));
}
