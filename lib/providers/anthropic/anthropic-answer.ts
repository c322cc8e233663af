import { createHash, type Hash } from 'node:crypto';
import type {
  ContentBlockParam,
  Message,
  MessageDeltaUsage,
  RawMessageStreamEvent,
  StopReason,
  TextCitationParam,
  ToolUnion,
  Usage as VendorUsage,
  WebSearchTool20250305,
  WebSearchTool20260318,
} from '@anthropic-ai/sdk/resources/messages';
import { addUsage, billed, NO_USAGE, type StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject, type JsonValue, jsonText, parseObject } from '../../chat/json.js';
import type { AnswerPart, Part, Usage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { asSources, type Source, uniqueSources } from '../../chat/web-source.js';
import { offersWeb } from '../common/fit-request.js';
import type { VendorTurn } from '../common/normalise-history.js';
import { longerArguments, readFinishWord, type StreamedAnswer, toolCall } from '../common/streamed-answer.js';

/** Reads a citation in the open text. The citation is sent back with the text. */
function* readCitation(
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
function* closeCited(
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
function readPages({ content }: JsonObject): readonly Source[] {
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

/** Yields the end of an answer once the stop reason is known, and only once. */
export function* readEnd(
  state: AnswerState,
  answer: StreamedAnswer,
  nextId: (given: string) => string,
): Generator<StreamEvent> {
  const { stop, usage, model, detail } = state;
  if (stop === null) return;
  state.stop = null;
  state.pause.isPaused = stop === 'pause_turn';
  const stop_reason = readStopReason(stop);
  // The length limit may have cut off the end of the last block.
  if (state.block?.type === 'tool_use') yield* endBlock(state, answer, nextId);
  yield* answer.finish(stop_reason === 'length' ? 'text' : 'none');
  // Behind those that the answer cites.
  if (state.read.length > 0) yield { type: 'sources', sources: uniqueSources(state.read) };
  yield {
    type: 'end',
    stop_reason,
    usage: readUsage(usage),
    ...(model !== '' && { model }),
    ...(detail !== null && { detail }),
  };
}

/** The event itself. Some gateways send a whole message instead of a stream; for that, the equivalent events. */
export function asEvents(piece: RawMessageStreamEvent | Message): readonly RawMessageStreamEvent[] {
  if (piece.type !== 'message') return [piece];
  const { content, stop_reason, stop_sequence, stop_details, container, usage } = piece;
  return [
    { type: 'message_start', message: piece },
    ...content.flatMap((content_block, index): RawMessageStreamEvent[] => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details, container }, usage },
    { type: 'message_stop' },
  ];
}

/** The state after the events so far. */
export interface AnswerState {
  usage: Partial<VendorUsage>;
  model: string;
  stop: StopReason | null;
  detail: string | null;
  /** The open block as it began, if it can be read only at its end. */
  block: JsonObject | null;
  /** Its arguments so far, as JSON text. */
  input: string;
  /** The citations of the open text. */
  cited: readonly JsonObject[];
  /** The pages that its searches have read. */
  read: readonly Source[];
  /** What the thinking of the answer belongs to. */
  readonly prefix: ThinkingPrefix;
  /** True if the server continues the answer when it is sent back. */
  readonly pause: { isPaused: boolean };
}

/** Reads one event of the stream. */
export function* readEvent(
  event: RawMessageStreamEvent,
  state: AnswerState,
  answer: StreamedAnswer,
  nextId: (given: string) => string,
): Generator<StreamEvent> {
  switch (event.type) {
    case 'message_start':
      state.model = event.message.model;
      state.usage = { ...event.message.usage };
      return;
    case 'content_block_start':
      yield* beginBlock(event.content_block, state, answer);
      return;
    case 'content_block_delta': {
      const { delta } = event;
      if (delta.type === 'text_delta') yield* answer.piece('text', delta.text);
      else if (delta.type === 'thinking_delta') yield* answer.piece('thinking', delta.thinking);
      else if (delta.type === 'signature_delta') yield* seal(delta.signature, state, answer);
      else if (delta.type === 'citations_delta') yield* readCitation(delta.citation, state, answer);
      else if (delta.type === 'input_json_delta') state.input = longerArguments(state.input, delta.partial_json);
      return;
    }
    case 'content_block_stop':
      yield* endBlock(state, answer, nextId);
      return;
    case 'message_delta':
      state.stop = event.delta.stop_reason || state.stop;
      state.detail = event.delta.stop_details?.explanation ?? event.delta.stop_details?.category ?? null;
      state.usage = { ...state.usage, ...withoutNulls(event.usage) };
      return;
    default:
      return;
  }
}

function* beginBlock(block: unknown, state: AnswerState, answer: StreamedAnswer): Generator<StreamEvent> {
  yield* answer.close();
  state.input = '';
  state.cited = [];
  state.block = null;
  if (!isJsonObject(block)) return;
  if (block.type === 'text') {
    yield* answer.piece('text', String(block.text ?? ''));
    const citations = Array.isArray(block.citations) ? block.citations : [];
    for (const citation of citations) yield* readCitation(citation, state, answer);
  } else if (block.type === 'thinking') {
    yield* answer.piece('thinking', String(block.thinking ?? ''));
    if (block.signature) yield* seal(block.signature, state, answer);
  } else state.block = block;
}

const seal = (signature: JsonValue, { prefix }: AnswerState, answer: StreamedAnswer): Generator<StreamEvent> =>
  answer.seal('thinking', { signature, prefix: prefix.id });

/** Redacted thinking and blocks of unknown types are stored and sent back unchanged. */
function* endBlock(
  state: AnswerState,
  answer: StreamedAnswer,
  nextId: (given: string) => string,
): Generator<StreamEvent> {
  const { block, input } = state;
  state.block = null;
  if (block === null) return yield* closeCited(state, answer);
  if (block.type !== 'tool_use') {
    const whole = input === '' ? block : { ...block, input: parseObject(input) ?? input };
    if (block.type === 'web_search_tool_result') {
      state.read = [...state.read, ...readPages(block)];
      yield { type: 'sources', sources: [] };
    }
    const opaque = isRedacted(block) ? { block: whole, prefix: state.prefix.id } : { block: whole };
    return yield* answer.add({ type: 'vendor', opaque });
  }
  const args = input === '' ? jsonText(block.input ?? {}) : input;
  yield* answer.add(toolCall(nextId(String(block.id ?? '')), String(block.name ?? ''), args));
}

/** Why the answer ended, in our words. `pause_turn` comes with the vendor's own tools only; see `withPauses`. */
function readStopReason(reason: StopReason): Extract<StreamEvent, { type: 'end' }>['stop_reason'] {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tool_calls';
    case 'end_turn':
    case 'stop_sequence':
    case 'pause_turn':
      return 'end';
    default:
      return readFinishWord(reason);
  }
}

/** The three counts of input tokens do not overlap: their sum is the prompt. */
function readUsage(usage: Partial<VendorUsage>): Usage | null {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return null;
  const cached_tokens = usage.cache_read_input_tokens ?? 0;
  const input_tokens = (usage.input_tokens ?? 0) + cached_tokens + (usage.cache_creation_input_tokens ?? 0);
  const output_tokens = usage.output_tokens ?? 0;
  const bill = {
    cache_write_tokens: usage.cache_creation_input_tokens ?? 0,
    cache_write_1h_tokens: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    web_searches: usage.server_tool_use?.web_search_requests ?? 0,
  };
  return { input_tokens, output_tokens, cached_tokens, context_tokens: input_tokens + output_tokens, ...billed(bill) };
}

/** The last event may correct the values of the first one; null means no change. */
function withoutNulls(usage: MessageDeltaUsage): Partial<VendorUsage> {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null && value !== undefined));
}

/**
 * What stands before an answer in a request: the system text, the tools and the messages, without thinking and cache
 * marks. Claude refuses thinking that comes back behind anything else than it was written behind
 * (platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks), so each thinking part is stored
 * with the id of its prefix and goes back only where the prefix has the same one. Other makers' models check nothing,
 * and some refuse answers whose thinking is missing.
 */
export class ThinkingPrefix {
  /** What is not hashed yet. Most requests are never hashed, because there is no thinking. */
  #unread: unknown[];
  #hash: Hash | null = null;
  readonly #isChecked: boolean;
  /** The blocks of an answer that is not finished: the server paused it. They do not stand before it. */
  #paused: readonly unknown[] = [];

  /** `isChecked`: whether the server is one of Claude's. */
  constructor(system: readonly string[], tools: readonly ToolUnion[], isChecked: boolean) {
    this.#unread = [system, tools];
    this.#isChecked = isChecked;
  }

  /** Sixteen hexadecimal digits. */
  get id(): string {
    this.#hash ??= createHash('sha256');
    for (const one of this.#unread) this.#hash.update(JSON.stringify(one));
    this.#unread = [];
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  /** The next turn of the conversation, without thinking that was written behind another prefix. */
  fit(turn: VendorTurn): VendorTurn {
    if (!this.#isChecked || turn.role !== 'assistant' || !turn.content.some(isThinking)) return turn;
    const { id } = this;
    return { ...turn, content: turn.content.filter((part) => !isThinking(part) || part.opaque?.prefix === id) };
  }

  /** Adds what is sent of the turn. */
  add(role: 'user' | 'assistant', content: readonly ContentBlockParam[]): void {
    const blocks = content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
    if (role === 'assistant') this.#paused = [...this.#paused, ...blocks];
    else {
      this.#unread.push(this.#paused, blocks);
      this.#paused = [];
    }
  }
}

/** Whether a block of an answer is thinking that Anthropic encrypted. */
const isRedacted = (block: unknown): boolean => isJsonObject(block) && block.type === 'redacted_thinking';

const isThinking = (part: Part): boolean =>
  part.type === 'thinking' || (part.type === 'vendor' && isRedacted(part.opaque.block));
