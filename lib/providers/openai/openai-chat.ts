import type OpenAI from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { billed, type StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonValue, jsonText, parseObject } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import { asSources, joinSources, type Source, uniqueSources } from '../../chat/web-source.js';
import { eventData, serverSentEvents } from '../../http/body.js';
import type { WebNotice } from '../common/fit-request.js';
import { callIds, type TurnForm } from '../common/normalise-history.js';
import { imageInAddress } from '../common/request-media.js';
import { headersOf } from '../common/sdk.js';
import { asMalformed } from '../common/stream.js';
import {
  isBrokenOff,
  longerArguments,
  mergeDetails,
  readFinishWord,
  StreamedAnswer,
  ThinkTags,
  toolCall,
} from '../common/streamed-answer.js';
import type { SentRequest } from '../common/vendor-schema.js';
import { sayNoSearch, toVendorRequest, toVendorSearch } from './openai-chat-request.js';
import type { OpenAIFormat } from './openai-models.js';

/**
 * One answer through Chat Completions. Reads the raw chunks, because the SDK's stream helper throws for some compatible
 * servers.
 */
export async function* streamChat(
  client: OpenAI,
  request: SentRequest<OpenAIFormat>,
  options: {
    readonly provider: string;
    readonly title: string;
    readonly idleTimeout: number;
    readonly compatible: boolean;
    readonly form: TurnForm;
    readonly host: string;
    readonly notice: WebNotice;
  },
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  yield* sayNoSearch(request, options, options.notice);
  const body = {
    ...toVendorRequest(request, options.provider, options),
    ...toVendorSearch(request, options),
    ...request.options,
    ...request.extra?.body,
  };
  const answer = new ChatAnswer();
  let failure: unknown = null;
  try {
    const response = await client.chat.completions.create(body, { signal, ...headersOf(request) }).asResponse();
    for await (const texts of serverSentEvents(response, options.idleTimeout)) {
      for (const text of texts) {
        // Not `yield*`: in an async generator, delegating to a plain one creates several promises per event.
        for (const event of answer.read(eventData<Chunk>(text))) yield event;
      }
    }
  } catch (thrown) {
    // OpenRouter adds an error object to an answer that is already finished; it is ignored then.
    if (!answer.isFinished) throw asMalformed(thrown, options.title);
    failure = thrown;
  }
  if (signal.aborted || !answer.isComplete) return;
  yield* answer.end(callIds(request.messages), failure);
}

/** A piece of an answer, with the additions of servers other than OpenAI's own. */
interface Delta {
  readonly content?: string | readonly unknown[] | null;
  readonly refusal?: string | null;
  /** Generated images (OpenRouter). */
  readonly images?: unknown;
  /** The pages that the text cites. */
  readonly annotations?: unknown;
  /** DeepSeek, vLLM, llama.cpp, Moonshot. */
  readonly reasoning_content?: string | null;
  /** OpenRouter, Groq, Ollama. */
  readonly reasoning?: string | null;
  /** OpenRouter, to be sent back. */
  readonly reasoning_details?: readonly JsonValue[] | null;
  readonly tool_calls?: readonly (CallDelta | null)[] | null;
  /** A call in the form of the API before tools. */
  readonly function_call?: CallDelta['function'] | null;
}

/** A piece of an answer, or the whole answer. */
interface Chunk extends Pick<ChatCompletionChunk, 'model' | 'usage'>, NamedSources {
  readonly choices?: readonly {
    readonly delta?: Delta | null;
    readonly message?: Delta | null;
    /** The text, from a server that knows only the older completions API. */
    readonly text?: string | null;
    readonly finish_reason?: string | null;
  }[];
}

/**
 * A piece of a call. Servers may omit the arguments or the index, send null or an object as arguments, or repeat the
 * name.
 */
interface CallDelta {
  readonly index?: number;
  readonly id?: string | number | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown };
  /** Google's signatures, to be sent back. */
  readonly extra_content?: JsonValue;
}

interface Call {
  readonly key: number;
  id: string;
  name: string;
  args: string;
  extra?: JsonValue;
}

/** Reads the stream of a Chat Completions answer. */
class ChatAnswer {
  readonly #answer = new StreamedAnswer();
  readonly #calls: Call[] = [];
  readonly #sources = new ChatSources();
  readonly #tags = new ThinkTags();
  #details: JsonValue[] = [];
  #finish: string | null = null;
  #usage: Usage | null = null;
  #model = '';
  #isRefused = false;
  #hasThought = false;
  /** Whether `reasoning_content` was there, but empty. Kimi wants it back before calls. */
  #thinksNothing = false;
  /** Whether a piece of the message has arrived. */
  #hasBegun = false;

  /** Whether the server has sent a finish reason for a complete answer. */
  get isFinished(): boolean {
    return this.#finish !== null && !isBrokenOff(this.#finish);
  }

  /** Whether the answer is complete. Without a finish reason, only complete arguments show that it was not cut off. */
  get isComplete(): boolean {
    if (this.#finish !== null) return true;
    return this.#calls.length > 0 && this.#calls.every(({ name, args }) => name !== '' && parseObject(args) !== null);
  }

  /** Reads one piece of the stream. */
  *read(chunk: Chunk): Generator<StreamEvent> {
    this.#model = chunk.model || this.#model;
    this.#usage = readUsage(chunk.usage) ?? this.#usage;
    const choice = chunk.choices?.[0];
    // Some servers send another piece with null after "tool_calls", and some send "" with every piece.
    this.#finish = choice?.finish_reason || this.#finish;
    // A server without streaming sends the whole message; some that stream repeat it at the end.
    const whole = this.#hasBegun ? null : (choice?.message ?? { content: choice?.text ?? null });
    const delta: Delta = choice?.delta ?? whole ?? {};
    this.#hasBegun ||= Boolean(choice?.delta?.content ?? choice?.delta?.tool_calls);
    this.#sources.read(chunk, delta.annotations);
    yield* this.#readThinking(delta);
    this.#isRefused ||= typeof delta.refusal === 'string' && delta.refusal !== '';
    if (Array.isArray(delta.content)) yield* readBlocks(delta.content, 'text', this.#answer);
    if (typeof delta.content === 'string') yield* this.#tags.read(delta.content, this.#answer);
    if (typeof delta.refusal === 'string') yield* this.#answer.piece('text', delta.refusal);
    if (delta.images !== undefined) yield* readImages(delta.images, this.#answer);
    for (const piece of delta.tool_calls ?? []) if (piece !== null) addCall(this.#calls, piece);
    if (delta.function_call) addCall(this.#calls, { index: 0, function: delta.function_call });
  }

  *#readThinking(delta: Delta): Generator<StreamEvent> {
    const field = delta.reasoning_content ? 'reasoning_content' : 'reasoning';
    this.#thinksNothing ||= delta.reasoning_content === '';
    const thought = delta.reasoning_content || delta.reasoning;
    if (typeof thought === 'string' && thought !== '') {
      this.#hasThought = true;
      yield* this.#answer.piece('thinking', thought);
      yield* this.#answer.seal('thinking', { field });
    }
    if (!delta.reasoning_details?.length) return;
    this.#details = mergeDetails(this.#details, delta.reasoning_details);
    yield* this.#answer.seal('thinking', { details: this.#details });
  }

  /** Yields the end of the answer. `failure` is the error after the answer was finished, or null. */
  *end(nextId: (given: string) => string, failure: unknown): Generator<StreamEvent> {
    const finish = this.#finish;
    const ended = finish === null ? 'end' : readFinishWord(finish);
    yield* this.#tags.end(this.#answer);
    if (this.#calls.length > 0 && this.#thinksNothing && !this.#hasThought)
      yield* this.#answer.seal('thinking', { field: 'reasoning_content' });
    for (const { id, name, args, extra } of this.#calls) {
      const opaque = extra === undefined ? undefined : { extra_content: extra };
      yield* this.#answer.add(toolCall(nextId(id), name, args, opaque));
    }
    const stop_reason = this.#isRefused ? 'refusal' : readStopReason(ended, this.#answer.calls);
    yield* this.#answer.finish(stop_reason === 'length' ? 'text' : 'none');
    if (this.#sources.all.length > 0) yield { type: 'sources', sources: this.#sources.all };
    const detail = detailOf(ended, finish, failure);
    yield {
      type: 'end',
      stop_reason,
      usage: this.#usage,
      ...(this.#model !== '' && { model: this.#model }),
      ...(detail !== null && { detail }),
    };
  }
}

/** Why the answer ended, in our words. Compatible servers send "stop" for tool calls too, or nothing. */
const readStopReason = (
  ended: ReturnType<typeof readFinishWord>,
  calls: number,
): Extract<StreamEvent, { type: 'end' }>['stop_reason'] => (ended === 'end' && calls > 0 ? 'tool_calls' : ended);

/** The prompt tokens include the cached ones, for which DeepSeek has its own name. */
function readUsage(usage: ChatCompletionChunk['usage']): Usage | null {
  if (!usage) return null;
  const more: typeof usage & { readonly prompt_cache_hit_tokens?: number } & ReportedCost = usage;
  const input_tokens = count(usage.prompt_tokens);
  const output_tokens = count(usage.completion_tokens);
  return {
    input_tokens,
    output_tokens,
    cached_tokens: count(usage.prompt_tokens_details?.cached_tokens ?? more.prompt_cache_hit_tokens),
    context_tokens: input_tokens + output_tokens,
    ...billed({ cache_write_tokens: count(usage.prompt_tokens_details?.cache_write_tokens), ...reportedCost(more) }),
  };
}

/**
 * The price in dollars as OpenRouter reports it: its own, beside which the vendor bills a key that the user gave it.
 */
interface ReportedCost {
  readonly cost?: unknown;
  readonly is_byok?: unknown;
  readonly cost_details?: { readonly upstream_inference_cost?: unknown } | null;
}

function reportedCost({ cost, is_byok, cost_details }: ReportedCost): { readonly cost?: number } {
  if (cost === undefined || cost === null) return {};
  return { cost: count(cost) + (is_byok === true ? count(cost_details?.upstream_inference_cost) : 0) };
}

/** A number, which some servers send as a string. */
function count(value: unknown): number {
  return Number(value) || 0;
}

/** Reads images in data URLs and ignores other URLs. */
function* readImages(images: unknown, answer: StreamedAnswer): Generator<StreamEvent> {
  for (const image of Array.isArray(images) ? images.filter(isJsonObject) : []) {
    const url = isJsonObject(image.image_url) ? image.image_url.url : image.image_url;
    const drawn = imageInAddress(url);
    yield* answer.close();
    if (drawn !== null) yield drawn;
    else if (typeof url === 'string') yield* answer.piece('text', `![image](${url})`);
  }
}

/** Reads content from Mistral's thinking models: a list of blocks, with nested blocks for thinking. */
function* readBlocks(
  blocks: readonly unknown[],
  type: 'text' | 'thinking',
  answer: StreamedAnswer,
): Generator<StreamEvent> {
  for (const block of blocks.filter(isJsonObject)) {
    if (Array.isArray(block.thinking)) yield* readBlocks(block.thinking, 'thinking', answer);
    else if (typeof block.text === 'string') yield* answer.piece(type, block.text);
  }
}

/**
 * Adds a piece to the call with its index. It begins another call if it has a different id, or a name and arguments
 * although the call is complete: some servers give every call the index 0, and some give no ids.
 */
function addCall(calls: Call[], piece: CallDelta): void {
  const key = piece.index ?? calls.at(-1)?.key ?? 0;
  let call = calls.findLast((known) => known.key === key);
  const id = String(piece.id ?? '');
  const begins = id === '' && Boolean(piece.function?.name && piece.function.arguments);
  if (
    call === undefined ||
    (id !== '' && call.id !== '' && id !== call.id) ||
    (begins && parseObject(call.args) !== null)
  ) {
    call = { key, id: '', name: '', args: '' };
    calls.push(call);
  }
  call.id ||= id;
  call.name ||= piece.function?.name ?? '';
  const args = piece.function?.arguments;
  if (typeof args === 'string') call.args = longerArguments(call.args, args);
  else if (typeof args === 'object' && args !== null) call.args = jsonText(args);
  if (piece.extra_content !== undefined) call.extra = piece.extra_content;
}

function detailOf(ended: ReturnType<typeof readFinishWord>, finish: string | null, failure: unknown): string | null {
  if (ended === 'refusal')
    return finish === 'content_filter'
      ? 'The content filter stopped the answer.'
      : `The server stopped it (${finish}).`;
  if (typeof failure !== 'object' || failure === null || !('error' in failure)) return null;
  const error: unknown = failure.error;
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : null;
}

/** The fields in which servers with a web search list the pages, next to a piece of the answer. */
interface NamedSources {
  /** Perplexity, xAI: URLs in the order of the numbers in the text, repeated with every piece. */
  readonly citations?: unknown;
  /** Perplexity: the same with titles. */
  readonly search_results?: unknown;
}

/** Collects the pages of a Chat Completions answer. */
class ChatSources {
  #numbered: readonly Source[] = [];
  #annotated: readonly Source[] = [];

  /** `annotations`: those of a piece (OpenAI, OpenRouter). */
  read({ citations, search_results }: NamedSources, annotations: unknown): void {
    // The usual case.
    if (citations === undefined && search_results === undefined && annotations === undefined) return;
    const found = objects(search_results).map(({ url, title }) => [url, title] as const);
    const addresses = Array.isArray(citations) ? citations : [];
    const titleOf = (address: unknown) => found.find(([url]) => url === address)?.[1];
    const numbered = asSources(addresses.length > 0 ? addresses.map((url) => [url, titleOf(url)] as const) : found);
    if (numbered.length > 0) this.#numbered = numbered;
    const cited = objects(annotations).map((note) => (isJsonObject(note.url_citation) ? note.url_citation : note));
    const pages = uniqueSources(asSources(cited.map(({ url, title }) => [url, title])));
    this.#annotated = joinSources(this.#annotated, pages);
  }

  /** All pages, those with numbers first. */
  get all(): readonly Source[] {
    return joinSources(this.#numbered, this.#annotated);
  }
}

function objects(list: unknown) {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
