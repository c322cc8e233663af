// The browser's form of the SDK is the same classes without Google Cloud's log-in, which takes longer to load than the rest.
import { type FinishReason, type GenerateContentResponse, GoogleGenAI, ThinkingLevel } from '@google/genai/web';
import type { StreamEvent } from '../../chat/event.js';
import type { Usage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { checkedEvents } from '../../http/checked-events.js';
import { makeFetch } from '../../http/fetch.js';
import { aborted } from '../../http/network-error.js';
import { quietConsole } from '../../http/sdk-console.js';
import { withoutVersion } from '../common/api-base.js';
import { callIds } from '../common/call-ids.js';
import type { Provider, ProviderSettings, Vendor } from '../common/provider.js';
import { asFailure } from '../common/provider-failure.js';
import { requireKey } from '../common/require-key.js';
import { guarded, misshapen } from '../common/stream.js';
import { StreamedAnswer } from '../common/streamed-answer.js';
import { BROKEN_CALLS, brokenCall, readPart, readStopReason, readUsage } from './gemini-answer.js';
import { toVendorRequest } from './gemini-request.js';

/** Makes the adapter; see `ProviderMember.create`. */
export async function create(vendor: Vendor, settings: ProviderSettings): Promise<Provider> {
  return new GeminiProvider(vendor, makeClient(vendor, settings), settings);
}

/** See `ProviderMember.listModels`. */
export async function listModels(
  vendor: Vendor,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const client = makeClient(vendor, settings);
  try {
    const names: string[] = [];
    for await (const model of await client.models.list({ config: { pageSize: 1000, abortSignal: signal } })) {
      if (model.supportedActions?.includes('generateContent') ?? true)
        names.push((model.name ?? '').replace(/^models\//, ''));
    }
    return names;
  } catch (thrown) {
    if (signal.aborted) throw aborted();
    throw asFailure(misshapen(thrown, vendor.title), { member: vendor, model: null, apiKey: settings.apiKey });
  }
}

class GeminiProvider implements Provider {
  readonly name: string;
  readonly #vendor: Vendor;
  readonly #client: GoogleGenAI;
  readonly #settings: ProviderSettings;

  constructor(vendor: Vendor, client: GoogleGenAI, settings: ProviderSettings) {
    this.name = vendor.name;
    this.#vendor = vendor;
    this.#client = client;
    this.#settings = settings;
  }

  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent> {
    const context = { member: this.#vendor, model: request.model, apiKey: this.#settings.apiKey };
    return guarded((both) => this.#events(request, both), context, signal);
  }

  async *#events(request: ChatRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const answer = new StreamedAnswer();
    const nextId = callIds(request.messages);
    let finish: FinishReason | null = null;
    let detail: string | null = null;
    let usage: Usage | null = null;
    let model = '';
    try {
      for await (const chunk of this.#chunks(request, signal)) {
        model = chunk.modelVersion || model;
        usage = readUsage(chunk.usageMetadata) ?? usage;
        const blocked = chunk.promptFeedback?.blockReason;
        if (blocked !== undefined) {
          const said = chunk.promptFeedback?.blockReasonMessage ?? `The prompt was blocked: ${blocked}.`;
          yield { type: 'end', stop_reason: 'refusal', usage, detail: said, ...(model !== '' && { model }) };
          return;
        }
        // The getters of the chunk write on the console when parts of several kinds are there; the parts themselves do not.
        const candidate = chunk.candidates?.[0];
        // Not `yield*`: handing over to a plain generator costs an asynchronous one several promises a piece.
        for (const part of candidate?.content?.parts ?? [])
          for (const event of readPart(part, answer, nextId)) yield event;
        finish = candidate?.finishReason || finish;
        detail = candidate?.finishMessage ?? detail;
      }
    } catch (thrown) {
      throw misshapen(thrown, this.#vendor.title);
    }
    if (finish === null && answer.calls === 0) return;
    if (finish !== null && BROKEN_CALLS.has(finish)) throw brokenCall(finish);
    const stop_reason = readStopReason(finish, answer.calls);
    yield* answer.finish(stop_reason === 'length' ? 'object' : 'none');
    const why = detail ?? (stop_reason === 'refusal' ? `Gemini stopped the answer: ${finish}.` : null);
    yield { type: 'end', stop_reason, usage, ...(model !== '' && { model }), ...(why !== null && { detail: why }) };
  }

  /** The SDK throws when a stream ends inside an event; that is a stream that was cut, which is told by the missing end. */
  async *#chunks(request: ChatRequest, signal: AbortSignal): AsyncGenerator<GenerateContentResponse> {
    try {
      const contents = toVendorRequest(request, this.name, ThinkingLevel, signal);
      yield* await this.#client.models.generateContentStream(contents);
    } catch (thrown) {
      if (thrown instanceof Error && thrown.message.startsWith('Incomplete JSON segment')) return;
      throw thrown;
    }
  }
}

function makeClient(vendor: Vendor, settings: ProviderSettings): GoogleGenAI {
  const apiKey = requireKey(vendor, settings);
  quietConsole(settings.trace);
  const fetch = makeFetch(settings);
  return new GoogleGenAI({
    apiKey,
    vertexai: false,
    httpOptions: {
      baseUrl: withoutVersion(settings.apiBase ?? 'https://generativelanguage.googleapis.com/'),
      fetch: async (input, init) => checkedEvents(await fetch(input, init), settings.idleTimeout),
    },
  });
}
