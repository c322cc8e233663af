import type {
  Base64ImageSource,
  CacheControlEphemeral,
  ContentBlockParam,
  JSONOutputFormat,
  MessageCreateParams,
  MessageCreateParamsStreaming,
  TextBlockParam,
  Tool,
  ToolUnion,
} from '@anthropic-ai/sdk/resources/messages';
import { isJsonObject } from '../../chat/json.js';
import { isPart } from '../../chat/message.js';
import type { ChatRequest, ToolSpec } from '../../chat/request.js';
import { unreachable } from '../../errors.js';
import { offersWeb, wantsStream } from '../common/fit-request.js';
import {
  beginningWithUser,
  FREE_FORM,
  formTurns,
  normaliseHistory,
  resultText,
  shortId,
  systemTexts,
  type TurnForm,
  type UserPart,
  type VendorTurn,
} from '../common/normalise-history.js';
import { base64Of, missingText } from '../common/request-media.js';
import { type SchemaDialect, type SentRequest, vendorSchema, withSchemaInWords } from '../common/vendor-schema.js';
import { ThinkingPrefix, toVendorSearch, withSearch } from './anthropic-answer.js';

/** How long a mark without a time keeps the prompt, in milliseconds. */
const SHORT_CACHE = 5 * 60_000;

/** The cache mark of the request; null for none. */
function cacheControl({ cache, facts }: ChatRequest): CacheControlEphemeral | null {
  if (facts?.takes?.extras === false || cache?.life === 0) return null;
  return (cache?.life ?? 0) > SHORT_CACHE ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
}

/**
 * The request in the form of the Messages API, with cache breakpoints after the stable prefix, after the system text
 * and at the end; and the prefix that the thinking of its answer belongs to.
 */
export function toVendorRequest(
  request: SentRequest<JSONOutputFormat>,
  provider: string,
  form = FREE_FORM,
  isOwn = false,
): { readonly body: MessageCreateParams; readonly prefix: ThinkingPrefix } {
  const max_tokens = request.max_output_tokens ?? defaultMaxTokens(request);
  const mark = cacheControl(request);
  const texts = systemTexts(request.system, form);
  const system = toVendorSystem(texts, mark);
  const web = toVendorSearch(request, isOwn);
  const turns = formTurns(beginningWithUser(normaliseHistory(request, provider)), form);
  const tools: ToolUnion[] = [...usualTools(request, turns), ...web];
  const prefix = new ThinkingPrefix(texts, tools, !form.strict);
  const messages = toVendorMessages(turns, request, prefix, form);
  const thinking = toVendorThinking(request, max_tokens, messages);
  const { format } = request;
  const body = {
    model: request.model,
    max_tokens,
    stream: wantsStream(request),
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools: system.length === 0 ? withMark(tools, mark) : tools }),
    ...((request.tool_choice === 'none' || tools.length > request.tools.length + web.length) && {
      tool_choice: { type: 'none' as const },
    }),
    messages: withBreakpoint(messages, mark),
    ...request.options,
    ...thinking,
    ...(format !== undefined && { output_config: { ...thinking.output_config, format } }),
  };
  return { body, prefix };
}

/** The tools with a breakpoint after the last one, for a request without system text. */
const withMark = (tools: readonly ToolUnion[], mark: CacheControlEphemeral | null): ToolUnion[] =>
  tools.map((tool, at) => (mark !== null && at === tools.length - 1 ? { ...tool, cache_control: mark } : tool));

export function toVendorTools(tools: readonly ToolSpec[]): Tool[] {
  return tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { ...parameters, type: 'object' as const },
  }));
}

/** The tools of the request. If it has none, those of earlier calls, unless the request offers a search. */
function usualTools(request: ChatRequest, turns: readonly VendorTurn[]): Tool[] {
  if (request.tools.length > 0 || offersWeb(request)) return toVendorTools(request.tools);
  return formerTools(turns);
}

/** The API rejects a conversation with tool calls if the request has no tools, even if none may be called. */
function formerTools(turns: readonly VendorTurn[]): Tool[] {
  const names = new Set(turns.flatMap(({ content }) => content.filter(isPart('tool_call')).map(({ name }) => name)));
  return [...names].map((name) => ({ name, input_schema: { type: 'object' as const } }));
}

/** Turns alternate, so messages of the same side are joined. Results come first in the message after their calls. */
function toVendorMessages(
  turns: readonly VendorTurn[],
  request: ChatRequest,
  prefix: ThinkingPrefix,
  { strict }: TurnForm,
): VendorMessage[] {
  const messages: VendorMessage[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const content = toVendorContent(prefix.fit(turn), request, strict);
    prefix.add(role, content);
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) for (const block of content) last.content.push(block);
    else messages.push({ role, content });
  }
  return messages;
}

/** Two breakpoints: after the first block, which outlives a change of skills or summary, and after the last. */
function toVendorSystem(blocks: readonly string[], mark: CacheControlEphemeral | null): TextBlockParam[] {
  return blocks.map((text, at) => ({
    type: 'text',
    text,
    ...(mark !== null && (at === 0 || at === blocks.length - 1) && { cache_control: mark }),
  }));
}

function toVendorContent(turn: VendorTurn, request: ChatRequest, isForeign: boolean): ContentBlockParam[] {
  switch (turn.role) {
    case 'user':
      return turn.content.flatMap((part) => toVendorUserBlock(part, request));
    case 'tool':
      return turn.content.map((part) => ({
        type: 'tool_result',
        tool_use_id: vendorId(part.call_id),
        content: part.error ?? resultText(part),
        ...(part.error !== undefined && { is_error: true }),
      }));
    case 'assistant':
      return [
        ...missingThoughts(turn, request),
        ...turn.content.flatMap((part) => {
          const isUnsigned = isForeign && turn.content.some(isPart('tool_call'));
          return withSearch(part, toVendorAnswerBlock(part, isUnsigned), request);
        }),
      ];
    default:
      return unreachable(turn);
  }
}

function toVendorUserBlock(part: UserPart, { attachments }: ChatRequest): ContentBlockParam[] {
  if (part.type === 'text') return textBlock(part.text);
  const data = base64Of(part, attachments);
  if (data === null) return textBlock(missingText(part));
  if (part.type === 'document') {
    return [
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data }, title: part.name ?? null },
    ];
  }
  return [{ type: 'image', source: { type: 'base64', media_type: imageType(part.mime), data } }];
}

type AnswerTurn = Extract<VendorTurn, { role: 'assistant' }>;

/** The empty thinking that a server demands before calls that another model made. */
function missingThoughts({ content }: AnswerTurn, { facts }: ChatRequest): ContentBlockParam[] {
  if (!facts?.takes?.thoughts || !content.some(isPart('tool_call')) || content.some(isPart('thinking'))) return [];
  return [{ type: 'thinking', thinking: '', signature: '' }];
}

function toVendorAnswerBlock(part: AnswerTurn['content'][number], isUnsigned: boolean): ContentBlockParam[] {
  switch (part.type) {
    case 'text':
      return textBlock(part.text);
    case 'thinking': {
      // Claude rejects thinking without its signature, as in an interrupted answer; before calls other models may have
      // none.
      const signature = part.opaque?.signature ?? (isUnsigned ? '' : null);
      return typeof signature === 'string' ? [{ type: 'thinking', thinking: part.text, signature }] : [];
    }
    case 'tool_call':
      return [{ type: 'tool_use', id: vendorId(part.call_id), name: part.name, input: part.args }];
    case 'vendor':
      return isBlock(part.opaque.block) ? [part.opaque.block] : [];
    default:
      return unreachable(part);
  }
}

/** The API accepts every block that it sent. */
function isBlock(value: unknown): value is ContentBlockParam {
  return isJsonObject(value) && typeof value.type === 'string';
}

/** The API rejects blocks without a visible character. */
function textBlock(text: string): ContentBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** Ids consist of letters, digits, `_` and `-`; other vendors' ids are converted. */
function vendorId(call_id: string): string {
  return /^[\w-]{1,64}$/.test(call_id) ? call_id : shortId(call_id);
}

function imageType(mime: string): Base64ImageSource['media_type'] {
  return mime === 'image/jpeg' || mime === 'image/gif' || mime === 'image/webp' ? mime : 'image/png';
}

/** The breakpoint that lets the next request read everything up to here from the cache. */
function withBreakpoint(messages: readonly VendorMessage[], mark: CacheControlEphemeral | null): VendorMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (mark === null || last === undefined || block === undefined || !isCacheable(block)) return [...messages];
  const marked = { ...block, cache_control: mark };
  return [...messages.slice(0, -1), { role: last.role, content: [...last.content.slice(0, -1), marked] }];
}

function isCacheable(block: ContentBlockParam): block is Extract<ContentBlockParam, { type: CacheableType }> {
  return block.type === 'text' || block.type === 'image' || block.type === 'document' || block.type === 'tool_result';
}

type CacheableType = 'text' | 'image' | 'document' | 'tool_result';

/** A message in our requests, which always consists of blocks. */
export interface VendorMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlockParam[];
}

/**
 * The default answer limit in tokens. Every model since Claude 4 accepts it, and it fits next to a prompt at the
 * compaction trigger.
 */
const MAX_TOKENS = 32_000;

/** The limit if the server may have refused a larger one. Every model accepts it. */
const SAFE_TOKENS = 4096;

/** The limit if the prompt seems to fill the window. The estimate may be too high. */
const LEAST_ANSWER = 256;

/** The thinking budget in tokens, for models that need a number. */
const BUDGET = { low: 4_000, medium: 12_000, high: 24_000, xhigh: 28_000, max: 30_000 } as const;

/** The answer limit in tokens when none is set. */
export function defaultMaxTokens({ model, context_window, estimated_tokens, facts }: ChatRequest): number {
  // Prompt and `max_tokens` together may not exceed the window.
  const room = Math.max(LEAST_ANSWER, context_window - estimated_tokens);
  if (facts?.takes?.output_limit === false) return Math.min(SAFE_TOKENS, facts.max_output_tokens ?? room, room);
  if (facts?.max_output_tokens !== undefined) return Math.min(facts.max_output_tokens, room);
  if (/claude-3-(?:opus|haiku|sonnet)/.test(model)) return 4096;
  if (/claude-3-5/.test(model)) return 8192;
  return Math.min(MAX_TOKENS, room);
}

/**
 * From Claude 4.6 on, a model decides how much it thinks, guided by an effort. Earlier models need a budget and reject
 * `adaptive`.
 */
export function toVendorThinking(
  { model, thinking, facts }: ChatRequest,
  max_tokens: number,
  messages: readonly VendorMessage[],
): Pick<MessageCreateParamsStreaming, 'thinking' | 'output_config'> {
  const isShown = facts?.takes?.extras !== false;
  const adaptive = { type: 'adaptive' as const, ...(isShown && { display: 'summarized' as const }) };
  if (thinking === null) return isShown && THINKS_BY_DEFAULT.test(model) ? { thinking: adaptive } : {};
  if (thinking === 'off') return withoutThinking(model);
  if (!WANTS_BUDGET.test(model)) {
    const effort = thinking === 'xhigh' && /-4[-.]6\b/.test(model) ? 'high' : thinking;
    return { thinking: adaptive, output_config: { effort } };
  }
  const budget_tokens = Math.min(BUDGET[thinking], max_tokens - 1024);
  if (budget_tokens < 1024 || isForeignToolTurn(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens } };
}

/** Some current models cannot turn thinking off. They get the lowest effort, and their thinking is omitted. */
function withoutThinking(model: string): Pick<MessageCreateParamsStreaming, 'thinking' | 'output_config'> {
  if (/sonnet-5[-.][5-9]\b/.test(model)) return { thinking: { type: 'between_tools' } };
  if (!ALWAYS_THINKS.test(model)) return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } };
}

/**
 * From Claude 5 on, models think without being asked, and are silent while they do: also what they say between tool
 * calls is thinking then (platform.claude.com/docs/en/build-with-claude/thinking).
 */
const THINKS_BY_DEFAULT = /claude-(?:fable|mythos|[a-z]+-(?:[5-9]|\d\d)(?!\d))/;

const ALWAYS_THINKS = /fable|mythos|opus-5[-.][5-9]\b/;

const WANTS_BUDGET = /claude-(?:3|[a-z]+-4(?![-.][6-9](?!\d)))/;

/**
 * With a budget, an answer that is waiting for tool results must begin with thinking, which another vendor's answer
 * does not have.
 */
function isForeignToolTurn(messages: readonly VendorMessage[]): boolean {
  const first = messages.findLast((message) => message.role === 'assistant')?.content[0]?.type;
  const waits = messages.at(-1)?.content.some((block) => block.type === 'tool_result') ?? false;
  return waits && first !== 'thinking' && first !== 'redacted_thinking';
}

/**
 * The schemas of structured outputs, according to Anthropic's documentation: no limits on numbers or lengths, and no
 * recursion.
 */
const STRUCTURED: SchemaDialect = {
  keywords: new Set(),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
  literal: (value) => value === null || typeof value !== 'object',
  closed: true,
  allRequired: false,
  recursive: false,
  tuples: false,
};

/**
 * The request with its schema as `output_config.format`, and as text if the schema cannot be expressed that way or
 * another model may ignore it.
 */
export function shapeRequest(
  request: ChatRequest,
  { compatible }: { readonly compatible: boolean },
): SentRequest<JSONOutputFormat> {
  const { schema: asked, tools } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  const schema = vendorSchema(asked.schema, STRUCTURED);
  if (schema === null || (compatible && asked.needsTools && tools.length > 0)) return inWords;
  return { ...(compatible ? inWords : request), format: { type: 'json_schema', schema: { ...schema } } };
}
