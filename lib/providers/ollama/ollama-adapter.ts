// The SDK's browser build is the same class without the file system, which would check whether an image is a path.
import { type ChatResponse, Ollama, type ShowResponse } from 'ollama/browser';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, jsonText } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import type { ModelFacts, Vendor } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { capitalised } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { aborted, mask, StreamError } from '../../http/failures.js';
import type { Fetch } from '../../http/fetch.js';
import { listenToConsole } from '../../http/sdk-console.js';
import { PlainResponse, PlainStream } from '../../http/web-standard.js';
import { WebNotice, wantsStream } from '../common/fit-request.js';
import type { ListedModel } from '../common/known-models.js';
import { callIds } from '../common/normalise-history.js';
import {
  type ModelQuestion,
  type Provider,
  type ProviderSettings,
  type PullProgress,
  RequestRefusal,
  UNSAID,
} from '../common/provider.js';
import { sdkFetch, withoutVersion } from '../common/sdk.js';
import { asMalformed, StreamingProvider } from '../common/stream.js';
import { readFinishWord, StreamedAnswer, ThinkTags, toolCall } from '../common/streamed-answer.js';
import type { SentRequest } from '../common/vendor-schema.js';
import {
  askFactsOf,
  isCut,
  learntWindow,
  listModelsOf,
  loadedWindow,
  promptCutNotice,
  textTokens,
  windowOption,
} from './ollama-facts.js';
import { shapeRequest, toVendorRequest } from './ollama-request.js';
import type { OllamaSearch } from './ollama-web.js';

/** Creates a client for one request. The SDK does not accept a signal, so it gets a `fetch` with one. */
type Connect = (signal: AbortSignal, dropped?: DroppedLines, extra?: ChatRequest['extra']) => Ollama;

/** See `ProviderMember.create`. */
export async function create(vendor: Vendor, settings: ProviderSettings): Promise<Provider> {
  const server = new OllamaServer(vendor, connecting(vendor, settings));
  return new StreamingProvider({ ...settings, member: vendor }, (request, signal) =>
    request.web === undefined || request.web === 'off'
      ? server.answer(shapeRequest(request), signal)
      : server.answerFromWeb(shapeRequest(request), settings, signal),
  );
}

/** See `ProviderMember.listModels`. */
export async function listModels(
  vendor: Vendor,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = { member: vendor, model: null, apiKey: settings.apiKey, keySource: settings.keySource };
  return await listModelsOf(connecting(vendor, settings)(signal), context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
  vendor: Vendor,
  settings: ProviderSettings,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const context = { member: vendor, model: question.model, apiKey: settings.apiKey, keySource: settings.keySource };
  return await askFactsOf(connecting(vendor, settings)(signal), context, settings, question, signal);
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
   * Whether to send images. Asks the server if there are any, since a model without vision silently ignores them. If
   * the server does not say, images are sent.
   */
  async #sees({ model, messages }: ChatRequest, signal: AbortSignal): Promise<boolean> {
    if (!messages.some(({ content }) => content.some((part) => part.type === 'image'))) return true;
    const sees = this.#vision.get(model) ?? (await canSee(this.#connect(signal), model));
    if (sees !== null) this.#vision.set(model, sees);
    return sees ?? true;
  }

  /**
   * The SDK throws a bare `Error` for a line with an error, and for a stream without its last line. It drops a line
   * that it cannot parse, with a message on the console. The missing piece ends the answer here, unless the line is the
   * last one and unfinished, because then the stream was cut off.
   */
  async *#chunks(request: SentRequest<object>, sees: boolean, signal: AbortSignal): AsyncGenerator<ChatResponse> {
    const dropped = new DroppedLines();
    try {
      const client = this.#connect(signal, dropped, request.extra);
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
  return (signal, dropped, extra) => {
    const withSignal: Fetch = async (input, init) => {
      const response = await fetch(input, { ...init, signal });
      return dropped?.watch(response) ?? response;
    };
    return new Ollama({
      host: withoutVersion(settings.apiBase ?? 'http://127.0.0.1:11434'),
      headers: { ...headers, ...extra?.headers },
      fetch: withSignal,
    });
  };
}

/** The SDK's console message before a line that it cannot parse and drops. */
const DROP_MESSAGE = 'invalid json: ';

/**
 * Detects the line of a response that the SDK dropped. The SDK reports it only on the console, which all responses
 * share.
 */
class DroppedLines {
  /** The first dropped line, or null. */
  first: string | null = null;
  #stop = () => {};
  /** The chunks that contain the line that the SDK is reading. */
  #recent: Uint8Array[] = [];

  /** The same response, watched until `end`. */
  watch(response: Response): Response {
    if (response.body === null) return response;
    this.#stop = listenToConsole(([what, line]) => {
      if (what === DROP_MESSAGE && typeof line === 'string' && line.trim() !== '' && this.#has(line))
        this.first ??= line;
    });
    const reader = response.body.getReader();
    const body = new PlainStream({
      next: async () => {
        const { value } = await reader.read();
        if (value !== undefined) this.#remember(value);
        return value ?? null;
      },
      stop: () => void reader.cancel(),
    });
    return PlainResponse.rewritten(response, body);
  }

  end(): void {
    this.#stop();
  }

  #remember(chunk: Uint8Array): void {
    // An unfinished line began in the last chunk with a line end.
    if (this.#recent.at(-1)?.includes(LINE_END)) this.#recent = this.#recent.slice(-1);
    this.#recent.push(chunk);
  }

  #has(line: string): boolean {
    return `\n${Buffer.concat(this.#recent).toString('utf8')}`.includes(`\n${line}\n`);
  }
}

const LINE_END = '\n'.charCodeAt(0);

/** The error for a line in Ollama's stream that is not JSON. It counts as a refusal without a reason. */
function unreadableLine(line: string): RequestRefusal {
  return new RequestRefusal('malformed', `Ollama sent a line that hi cannot read: '${line.slice(0, 60)}'.`, {
    hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
    ...UNSAID,
    retryable: true,
    said: 'an answer that cannot be read',
  });
}

/** See `ProviderMember.pull`: https://docs.ollama.com/api/pull. */
export async function* pull(
  vendor: Vendor,
  settings: ProviderSettings,
  model: string,
  signal: AbortSignal,
): AsyncGenerator<PullProgress> {
  const client = pullingClient(vendor, settings, model, signal);
  const layers = new Map<string, PullProgress>();
  try {
    for await (const { digest, total = 0, completed = 0 } of await client.pull({ model, stream: true })) {
      if (digest) layers.set(digest, { done: completed, all: total });
      yield sumOfLayers([...layers.values()]);
    }
  } catch (thrown) {
    if (signal.aborted) throw aborted();
    throw thrown instanceof HiError ? thrown : failedPull(vendor, model, thrown, settings);
  }
}

function pullingClient(vendor: Vendor, settings: ProviderSettings, model: string, signal: AbortSignal): Ollama {
  const fetch = sdkFetch(vendor, settings);
  // The SDK sends the model name only under its old key.
  const body = JSON.stringify({ model, name: model, stream: true });
  const asDocumented: Fetch = async (input, init) => await fetch(input, { ...init, body, signal });
  return new Ollama({
    host: withoutVersion(settings.apiBase ?? 'http://127.0.0.1:11434'),
    headers: settings.apiKey === null ? {} : { Authorization: `Bearer ${settings.apiKey}` },
    fetch: asDocumented,
  });
}

/** The sum of all layers. They are downloaded one after the other, the largest first. */
function sumOfLayers(layers: readonly PullProgress[]): PullProgress {
  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0);
  const all = sum(layers.map((layer) => layer.all));
  return { done: sum(layers.map((layer) => layer.done)), all: all === 0 ? null : all };
}

function failedPull({ title }: Vendor, model: string, thrown: unknown, { apiKey }: ProviderSettings): HiError {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const isCut = words.startsWith('Did not receive');
  const said = isCut ? 'the connection was cut' : mask(words, apiKey);
  return new HiError('network', `${capitalised(title)} could not download '${model}': ${said.replace(/\.?$/, '.')}`, {
    hint: 'Check the name, and the network of the machine that it runs on. The part downloaded so far is kept.',
    cause: thrown,
  });
}
