// The SDK's browser build is the same class without the file system, which would check whether an image is a path.

import { type ChatResponse, Ollama, type ShowResponse } from 'ollama/browser';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, jsonText } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import type { ModelFacts, Vendor } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { StreamError } from '../../http/failures.js';
import type { Fetch } from '../../http/fetch.js';
import { readFinishWord } from '../common/answer/finish-words.js';
import { asMalformed } from '../common/answer/stream.js';
import { StreamedAnswer, toolCall } from '../common/answer/streamed-answer.js';
import { StreamingProvider } from '../common/answer/streaming-provider.js';
import { ThinkTags } from '../common/answer/think-tags.js';
import { withoutVersion } from '../common/api-base.js';
import type { ListedModel } from '../common/models/listed-model.js';
import type { ModelQuestion, Provider, ProviderSettings } from '../common/provider.js';
import { callIds } from '../common/request/call-ids.js';
import { wantsStream } from '../common/request/wants-stream.js';
import { WebNotice } from '../common/request/web-search.js';
import { type SentRequest, sendShaped } from '../common/schema/sent-request.js';
import { sdkFetch } from '../common/sdk-options.js';
import { DroppedLines } from './dropped-lines.js';
import * as facts from './ollama-facts.js';
import { toVendorRequest } from './ollama-request.js';
import { shapeRequest } from './ollama-schema.js';
import type { OllamaSearch } from './ollama-web.js';
import { isCut, learntWindow, loadedWindow, promptCutNotice, textTokens, windowOption } from './ollama-window.js';
import { unreadableLine } from './unreadable-line.js';

/** Creates a client for one request. The SDK does not accept a signal, so it gets a `fetch` with one. */
type Connect = (signal: AbortSignal, dropped?: DroppedLines) => Ollama;

/** See `ProviderMember.create`. */
export async function create(vendor: Vendor, settings: ProviderSettings): Promise<Provider> {
  const server = new OllamaServer(vendor, connecting(vendor, settings));
  return new StreamingProvider({ ...settings, member: vendor }, (request, signal) =>
    sendShaped(request, loadSchema, (sent) => {
      if (sent.web === undefined || sent.web === 'off') return server.answer(sent, signal);
      return server.answerFromWeb(sent, settings, signal);
    }),
  );
}

const loadSchema = async () => shapeRequest;

/** See `ProviderMember.listModels`. */
export async function listModels(
  vendor: Vendor,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = { member: vendor, model: null, apiKey: settings.apiKey };
  return await facts.listModels(connecting(vendor, settings)(signal), context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
  vendor: Vendor,
  settings: ProviderSettings,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const context = { member: vendor, model: question.model, apiKey: settings.apiKey };
  return await facts.askFacts(connecting(vendor, settings)(signal), context, settings, question, signal);
}

/** A server, with its state between requests. */
class OllamaServer {
  readonly #vendor: Vendor;
  readonly #connect: Connect;
  readonly #web = new WebNotice();
  #search: OllamaSearch | null = null;
  readonly #vision = new Map<string, boolean>();
  /** The last prompt of each model: its size, and the turn in which the user was warned that it was cut. */
  readonly #last = new Map<string, { readonly estimate: number; readonly warnedAt: number }>();

  constructor(vendor: Vendor, connect: Connect) {
    this.#vendor = vendor;
    this.#connect = connect;
  }

  /** One answer, with web searches if the model can do them. */
  async *answerFromWeb(
    request: SentRequest<object>,
    settings: ProviderSettings,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    const { OllamaSearch, canSearch, noSearchText, withSearches } = await import('./ollama-web.js');
    this.#search ??= new OllamaSearch(sdkFetch(this.#vendor, settings), settings);
    // With a fixed format the answer cannot contain calls.
    if (request.format === undefined && canSearch(request, this.#search))
      return yield* withSearches(request, this.#search, (asked) => this.answer(asked, signal), signal);
    yield* this.#web.say(request, noSearchText(request));
    yield* this.answer(request, signal);
  }

  /** One answer. */
  async *answer(request: SentRequest<object>, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const sees = await this.#sees(request, signal);
    const answer = new StreamedAnswer();
    const tags = new ThinkTags();
    const nextId = callIds(request.messages);
    try {
      for await (const chunk of this.#chunks(request, sees, signal)) {
        const { thinking, content, tool_calls } = chunk.message ?? {};
        // Not `yield*`: in an async generator, delegating to a plain one creates several promises per event.
        for (const event of answer.piece('thinking', thinking ?? '')) yield event;
        for (const event of tags.read(content ?? '', answer)) yield event;
        for (const { function: call, ...rest } of tool_calls ?? []) {
          const args: unknown = call.arguments;
          const text = typeof args === 'string' ? args : jsonText(args ?? {});
          yield* answer.add(toolCall(nextId(idOf(rest)), call.name, text));
        }
        if (!chunk.done) continue;
        yield* tags.end(answer);
        const stop_reason = readStopReason(chunk.done_reason, answer.calls);
        yield* answer.finish(stop_reason === 'length' ? 'object' : 'none');
        yield* this.#watchWindow(request, chunk.prompt_eval_count, signal);
        yield {
          type: 'end',
          stop_reason,
          usage: readUsage(chunk),
          ...(chunk.model && { model: chunk.model }),
        };
      }
    } catch (thrown) {
      throw asMalformed(thrown, this.#vendor.title);
    }
  }

  /** Reports what the answer reveals about the window, and warns once per turn that the prompt was cut. */
  async *#watchWindow(
    request: ChatRequest,
    read: number | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    const { model, facts: known = {} } = request;
    const turn = request.messages.filter((message) => message.role === 'user').length;
    const earlier = this.#last.get(model) ?? null;
    const asked = windowOption(request);
    const cut = isCut(request, read, { asked, earlier });
    const loaded = cut || asked === null ? await this.#loaded(model, signal) : null;
    const learnt = cut ? { context_window: loaded ?? read } : learntWindow(asked, loaded, known);
    if (learnt !== null) yield { type: 'facts', facts: learnt };
    if (cut && earlier?.warnedAt !== turn) yield { type: 'notice', text: promptCutNotice(request, read, loaded) };
    this.#last.set(model, { estimate: textTokens(request), warnedAt: cut ? turn : -1 });
  }

  /** The window that the model is loaded with; null if the server does not report it. */
  async #loaded(model: string, signal: AbortSignal): Promise<number | null> {
    try {
      return loadedWindow((await this.#connect(signal).ps()).models, model);
    } catch {
      return null;
    }
  }

  /**
   * Whether to send images. Asks the server if there are any, since a model without vision silently ignores them. If the server does not say,
   * images are sent.
   */
  async #sees({ model, messages }: ChatRequest, signal: AbortSignal): Promise<boolean> {
    if (!messages.some(({ content }) => content.some((part) => part.type === 'image'))) return true;
    const sees = this.#vision.get(model) ?? (await canSee(this.#connect(signal), model));
    if (sees !== null) this.#vision.set(model, sees);
    return sees ?? true;
  }

  /**
   * The SDK throws a bare `Error` for a line with an error, and for a stream without its last line. It drops a line that it cannot parse, with a message on the
   * console. The missing piece ends the answer here, unless the line is the last one and unfinished, because then the stream was cut off.
   */
  async *#chunks(request: SentRequest<object>, sees: boolean, signal: AbortSignal): AsyncGenerator<ChatResponse> {
    const dropped = new DroppedLines();
    try {
      const client = this.#connect(signal, dropped);
      const asked = toVendorRequest(request, this.#vendor.name, sees);
      if (!wantsStream(request)) return void (yield await client.chat({ ...asked, stream: false }));
      const stream = await client.chat(asked);
      for await (const chunk of stream) {
        const bad = isJsonObject(chunk) ? dropped.first : jsonText(chunk);
        if (bad !== null) throw unreadableLine(bad);
        yield chunk;
      }
    } catch (thrown) {
      if (!(thrown instanceof Error) || thrown.name !== 'Error') throw thrown;
      if (!thrown.message.startsWith('Did not receive done')) throw new StreamError({ message: thrown.message });
      if (dropped.first !== null) throw unreadableLine(dropped.first);
    } finally {
      dropped.end();
    }
  }
}

/** Null if the server does not say. */
async function canSee(client: Ollama, model: string): Promise<boolean | null> {
  try {
    const { capabilities }: Partial<ShowResponse> = await client.show({ model });
    return capabilities?.includes('vision') ?? null;
  } catch {
    return null;
  }
}

/** Newer servers give an id, which is missing from the SDK's types. */
function idOf(call: { readonly id?: unknown }): string | null {
  return typeof call.id === 'string' ? call.id : null;
}

/** Why the answer ended, in our words: "stop" is used for tool calls too. */
export function readStopReason(
  reason: string | undefined,
  calls: number,
): Extract<StreamEvent, { type: 'end' }>['stop_reason'] {
  const ended = readFinishWord(reason ?? 'stop');
  return ended === 'end' && calls > 0 ? 'tool_calls' : ended;
}

/** The server's counts, which are missing for a prompt that was completely cached. */
export function readUsage({ prompt_eval_count, eval_count }: Partial<ChatResponse>): Usage | null {
  if (prompt_eval_count === undefined && eval_count === undefined) return null;
  const input_tokens = prompt_eval_count ?? 0;
  const output_tokens = eval_count ?? 0;
  return { input_tokens, output_tokens, cached_tokens: 0, context_tokens: input_tokens + output_tokens };
}

function connecting(vendor: Vendor, settings: ProviderSettings): Connect {
  const fetch = sdkFetch(vendor, settings);
  const headers = settings.apiKey === null ? {} : { Authorization: `Bearer ${settings.apiKey}` };
  return (signal, dropped) => {
    const withSignal: Fetch = async (input, init) => {
      const response = await fetch(input, { ...init, signal });
      return dropped?.watch(response) ?? response;
    };
    return new Ollama({
      host: withoutVersion(settings.apiBase ?? 'http://127.0.0.1:11434'),
      headers,
      fetch: withSignal,
    });
  };
}
