import type OpenAI from 'openai';
import type {
  Response,
  ResponseFunctionToolCall,
  ResponseOutputItem,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from 'openai/resources/responses/responses';
import { billed, type StreamEvent } from '../../chat/event.js';
import { type JsonObject, jsonText, parseObject } from '../../chat/json.js';
import type { ToolCallPart, Usage } from '../../chat/message.js';
import { type Source, uniqueSources } from '../../chat/web-source.js';
import { eventData, serverSentEvents } from '../../http/body.js';
import { StreamError } from '../../http/failures.js';
import { callIds, type TurnForm } from '../common/normalise-history.js';
import { drawnImage } from '../common/request-media.js';
import { headersOf } from '../common/sdk.js';
import { asMalformed } from '../common/stream.js';
import { longerArguments, StreamedAnswer, toolCall } from '../common/streamed-answer.js';
import type { SentRequest } from '../common/vendor-schema.js';
import type { OpenAIFormat } from './openai-models.js';
import { citationsOf, readAnnotations, readPages, toVendorRequest } from './openai-responses-request.js';

/** One answer through the Responses API. */
export async function* streamResponses(
  client: OpenAI,
  request: SentRequest<OpenAIFormat>,
  options: { readonly provider: string; readonly title: string; readonly idleTimeout: number; readonly form: TurnForm },
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const answer = new StreamedAnswer();
  const nextId = callIds(request.messages);
  const items = new OpenItems();
  const state: Reading = { items, refused: false, searches: 0, read: [] };
  const response = await client.responses
    .create(
      { ...toVendorRequest(request, options.provider, options.form), ...request.extra?.body },
      { signal, ...headersOf(request) },
    )
    .asResponse();
  try {
    for await (const texts of serverSentEvents(response, options.idleTimeout)) {
      // One at a time: text before an error event is part of the answer.
      for (const text of texts) {
        for (const event of asEvents(eventData(text))) {
          // Not `yield*`: in an async generator, delegating to a plain one creates several promises per event.
          for (const one of readEvent(event, state, answer, nextId)) yield one;
          if (event.type !== 'response.completed' && event.type !== 'response.incomplete') continue;
          const cut = event.response.incomplete_details?.reason === 'max_output_tokens';
          if (cut) for (const call of items.unfinished()) yield* answer.add(asPart(call, nextId));
          yield* answer.finish(cut ? 'text' : 'none');
          // Behind those that the answer cites.
          if (state.read.length > 0) yield { type: 'sources', sources: uniqueSources(state.read) };
          yield readEnd(event.response, state, answer.calls);
        }
      }
    }
  } catch (thrown) {
    throw asMalformed(thrown, options.title);
  }
}

/** The event itself. Some servers send a whole response instead of a stream; for that, the equivalent events. */
function asEvents(piece: ResponseStreamEvent | Response): readonly ResponseStreamEvent[] {
  if (!('object' in piece)) return [piece];
  const items = piece.output.map((item, output_index): ResponseStreamEvent => {
    return { type: 'response.output_item.done', item, output_index, sequence_number: 0 };
  });
  const type = piece.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return [...items, { type, response: piece, sequence_number: 0 }];
}

interface Reading {
  readonly items: OpenItems;
  refused: boolean;
  /** How many web searches there were, and what they found. */
  searches: number;
  read: readonly Source[];
}

function* readEvent(
  event: ResponseStreamEvent,
  state: Reading,
  answer: StreamedAnswer,
  nextId: (given: string) => string,
): Generator<StreamEvent> {
  const { items } = state;
  switch (event.type) {
    case 'response.output_item.added':
      items.begin(event.output_index, event.item);
      return;
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      state.refused ||= event.type === 'response.refusal.delta';
      if (items.turnTo(event.output_index, event.item_id)) yield* answer.close();
      yield* answer.piece('text', event.delta);
      return;
    case 'response.reasoning_summary_part.added':
      if (event.summary_index > 0) yield* answer.piece('thinking', '\n\n');
      return;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      if (items.turnTo(event.output_index, event.item_id)) yield* answer.close();
      yield* answer.piece('thinking', event.delta);
      return;
    case 'response.function_call_arguments.delta':
      items.addArguments(event.output_index, event.item_id, event.delta);
      return;
    case 'response.output_item.done':
      yield* readItem(event.item, items.end(event.output_index, event.item), state, answer, nextId);
      return;
    case 'response.failed':
      throw new StreamError({ message: 'The response failed.', ...withoutNulls(event.response.error) });
    case 'error':
      throw new StreamError({ message: event.message, ...(event.code !== null && { code: event.code }) });
    default:
      return;
  }
}

/** Reads a complete item, with the data that must be sent back with it. */
function* readItem(
  item: ResponseOutputItem,
  { isStreamed, isOpen }: EndedItem,
  state: Reading,
  answer: StreamedAnswer,
  nextId: (given: string) => string,
): Generator<StreamEvent> {
  switch (item.type) {
    case 'message': {
      const words = item.content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('');
      const refusal = item.content.some((part) => part.type === 'refusal');
      state.refused ||= refusal;
      yield* readAnnotations(item);
      if (!isStreamed) {
        yield* answer.close();
        yield* answer.piece('text', words);
      }
      if (words === '' || (isStreamed && !isOpen)) return;
      yield* answer.seal('text', {
        id: item.id,
        ...(item.phase && { phase: item.phase }),
        ...(refusal && { refusal }),
        ...citationsOf(item),
      });
      yield* answer.close();
      return;
    }
    case 'reasoning':
      if (!isOpen) yield* answer.close();
      yield* answer.seal('thinking', { item: asJson(toInput(item)) });
      yield* answer.close();
      return;
    case 'function_call':
      yield* answer.add(asPart(item, nextId));
      return;
    case 'image_generation_call':
      yield* answer.close();
      if (item.result) yield drawing(item, item.result);
      return;
    default:
      if (item.type === 'web_search_call') {
        state.searches += 1;
        state.read = [...state.read, ...readPages(item)];
        yield { type: 'sources', sources: [] };
      }
      yield* answer.add({ type: 'vendor', opaque: { item: asJson(item) } });
  }
}

/** A generated image. It is sent back as its item, so that the model can edit it. */
function drawing({ type, id, status }: ResponseOutputItem.ImageGenerationCall, result: string): StreamEvent {
  return drawnImage('image/png', result, (data) => ({ item: { type, id, status, result: data } }));
}

function asPart(
  { id, call_id, name, arguments: text }: ResponseFunctionToolCall,
  nextId: (given: string) => string,
): ToolCallPart {
  return toolCall(nextId(call_id), name, text, id === undefined ? undefined : { id });
}

function readEnd(
  response: Response,
  { refused, searches }: Reading,
  calls: number,
): Extract<StreamEvent, { type: 'end' }> {
  const reason = response.incomplete_details?.reason;
  return {
    type: 'end',
    stop_reason: refused ? 'refusal' : readStopReason(reason, calls),
    usage: readUsage(response.usage, searches),
    ...(response.model && { model: response.model }),
    ...(reason === 'content_filter' && { detail: 'The content filter stopped the answer.' }),
  };
}

/**
 * Why the answer ended, in our words: the API has no reason for tool calls, and gives one only for an incomplete
 * answer.
 */
function readStopReason(
  reason: string | undefined,
  calls: number,
): Extract<StreamEvent, { type: 'end' }>['stop_reason'] {
  if (reason === 'content_filter') return 'refusal';
  if (reason !== undefined) return 'length';
  return calls > 0 ? 'tool_calls' : 'end';
}

/** The input count includes cached tokens, the output count reasoning tokens. */
function readUsage(usage: ResponseUsage | null | undefined, web_searches = 0): Usage | null {
  if (!usage) return null;
  const { input_tokens, output_tokens } = usage;
  return {
    input_tokens,
    output_tokens,
    cached_tokens: usage.input_tokens_details?.cached_tokens ?? 0,
    context_tokens: input_tokens + output_tokens,
    ...billed({
      cache_write_tokens: usage.input_tokens_details?.cache_write_tokens ?? 0,
      web_searches,
    }),
  };
}

/** The reasoning item as the API accepts it. The API sends fields that it then rejects, such as an empty `content`. */
function toInput({ type, id, summary, encrypted_content, content }: ResponseReasoningItem): ResponseReasoningItem {
  return {
    type,
    id,
    summary,
    ...(content?.length && { content }),
    ...(typeof encrypted_content === 'string' && { encrypted_content }),
  };
}

function asJson(item: ResponseOutputItem): JsonObject {
  return parseObject(jsonText(item)) ?? {};
}

function withoutNulls(error: Response['error']): { message?: string; code?: string } {
  return error === null ? {} : { message: error.message, code: error.code };
}

/** The state of an item when it is done. */
interface EndedItem {
  /** Whether pieces of it have arrived. */
  readonly isStreamed: boolean;
  /** Whether the last piece belonged to it. */
  readonly isOpen: boolean;
}

interface OpenCall {
  readonly keys: readonly string[];
  readonly call: ResponseFunctionToolCall;
}

/**
 * The items of a streamed answer. A server may begin an item before the previous one is done, so each is identified by
 * its place in the answer or by its id: some servers give every item the place 0, some a new id with every event, some
 * neither.
 */
class OpenItems {
  readonly #streamed = new Set<string>();
  #open: readonly string[] = [];
  #calls: OpenCall[] = [];

  /** Begins an item. */
  begin(place: number | undefined, item: ResponseOutputItem): void {
    const keys = keysOf(place, item.id);
    for (const key of keys) this.#streamed.delete(key);
    if (item.type === 'function_call') this.#calls.push({ keys, call: { ...item, arguments: item.arguments ?? '' } });
  }

  /** Switches to the item of the next piece of text. True if the previous piece belonged to another item. */
  turnTo(place: number | undefined, id: string | undefined): boolean {
    const keys = keysOf(place, id);
    for (const key of keys) this.#streamed.add(key);
    const isOther = !overlap(this.#open, keys);
    this.#open = keys;
    return isOther;
  }

  /** Adds a piece of a call's arguments. */
  addArguments(place: number | undefined, id: string | undefined, text: string): void {
    const keys = keysOf(place, id);
    const open = this.#calls.findLast((one) => overlap(one.keys, keys));
    if (open) open.call.arguments = longerArguments(open.call.arguments, text);
  }

  /** Ends an item. */
  end(place: number | undefined, item: ResponseOutputItem): EndedItem {
    const keys = keysOf(place, item.id);
    const isStreamed = keys.some((key) => this.#streamed.delete(key));
    const isOpen = overlap(this.#open, keys);
    if (isOpen) this.#open = [];
    this.#calls = this.#calls.filter((one) => !overlap(one.keys, keys));
    return { isStreamed, isOpen };
  }

  /** The calls that have begun and are not done. */
  unfinished(): readonly ResponseFunctionToolCall[] {
    return this.#calls.map(({ call }) => call);
  }
}

function keysOf(place: unknown, id: unknown): readonly string[] {
  const keys = [typeof place === 'number' ? `place ${place}` : null, typeof id === 'string' ? `id ${id}` : null];
  const known = keys.filter((key) => key !== null);
  return known.length > 0 ? known : ['unknown'];
}

const overlap = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((key) => others.includes(key));
