import Anthropic from '@anthropic-ai/sdk';
import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { makeFetch, SDK_TIMEOUT } from '../../http/fetch.js';
import { aborted } from '../../http/network-error.js';
import { quietConsole } from '../../http/sdk-console.js';
import { eventData, serverSentEvents } from '../../http/server-sent-events.js';
import { withoutVersion } from '../common/api-base.js';
import { callIds } from '../common/call-ids.js';
import { stripImages } from '../common/image-support.js';
import type { Provider, ProviderSettings, Vendor } from '../common/provider.js';
import { asFailure } from '../common/provider-failure.js';
import { requireKey } from '../common/require-key.js';
import { guarded, misshapen } from '../common/stream.js';
import { StreamedAnswer } from '../common/streamed-answer.js';
import { asEvents, type Reading, readEnd, readEvent } from './anthropic-answer.js';
import { toVendorRequest } from './anthropic-request.js';

/** Makes the adapter; see `ProviderMember.create`. */
export async function create(vendor: Vendor, settings: ProviderSettings): Promise<Provider> {
  return new AnthropicProvider(vendor, makeClient(vendor, settings), settings);
}

/** See `ProviderMember.listModels`. */
export async function listModels(
  vendor: Vendor,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const client = makeClient(vendor, settings);
  try {
    const { data } = await client.models.list({ limit: 1000 }, { signal });
    return data.map((model) => model.id);
  } catch (thrown) {
    if (signal.aborted) throw aborted();
    throw asFailure(misshapen(thrown, vendor.title), { member: vendor, model: null, apiKey: settings.apiKey });
  }
}

class AnthropicProvider implements Provider {
  readonly name: string;
  readonly #vendor: Vendor;
  readonly #client: Anthropic;
  readonly #settings: ProviderSettings;

  constructor(vendor: Vendor, client: Anthropic, settings: ProviderSettings) {
    this.name = vendor.name;
    this.#vendor = vendor;
    this.#client = client;
    this.#settings = settings;
  }

  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent> {
    const context = { member: this.#vendor, model: request.model, apiKey: this.#settings.apiKey };
    return guarded((both) => this.#events(stripImages(request), both), context, signal);
  }

  // The events are read here: the SDK's own reader takes an answer or an error that is no stream for an empty one.
  async *#events(request: ChatRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const answer = new StreamedAnswer();
    const nextId = callIds(request.messages);
    const state: Reading = { usage: {}, model: '', stop: null, detail: null, block: null, input: '' };
    const body = toVendorRequest(request, this.name);
    const response = await this.#client.messages.create(body, { signal }).asResponse();
    try {
      for await (const texts of serverSentEvents(response, this.#settings.idleTimeout)) {
        // One at a time: what came before an event that tells of an error is part of the answer.
        for (const text of texts) {
          for (const event of asEvents(eventData(text))) {
            // Not `yield*`: handing over to a plain generator costs an asynchronous one several promises a piece.
            for (const one of readEvent(event, state, answer, nextId)) yield one;
            if (event.type === 'message_stop') yield* readEnd(state, answer, nextId);
          }
        }
      }
    } catch (thrown) {
      throw misshapen(thrown, this.#vendor.title);
    }
    // A stream that ends after its reason but before its last event lacks nothing.
    yield* readEnd(state, answer, nextId);
  }
}

function makeClient(vendor: Vendor, settings: ProviderSettings): Anthropic {
  const apiKey = requireKey(vendor, settings);
  quietConsole(settings.trace);
  return new Anthropic({
    apiKey,
    baseURL: withoutVersion(settings.apiBase ?? 'https://api.anthropic.com'),
    maxRetries: 0,
    timeout: SDK_TIMEOUT,
    logLevel: 'off',
    fetch: makeFetch(settings),
  });
}
