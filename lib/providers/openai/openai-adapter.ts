import OpenAI from 'openai';
import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { makeFetch, SDK_TIMEOUT } from '../../http/fetch.js';
import { aborted } from '../../http/network-error.js';
import { quietConsole } from '../../http/sdk-console.js';
import { stripImages } from '../common/image-support.js';
import type { Provider, ProviderSettings, Vendor } from '../common/provider.js';
import { asFailure, type FailureContext } from '../common/provider-failure.js';
import { requireKey } from '../common/require-key.js';
import { guarded, misshapen } from '../common/stream.js';
import { streamChat } from './openai-chat.js';
import { streamResponses } from './openai-responses.js';

/** The adapter of any vendor that speaks OpenAI's protocol at `address`. */
export function create(vendor: Vendor, address: string, settings: ProviderSettings): Provider {
  return new OpenAIProvider(vendor, address, settings, makeClient(vendor, address, settings));
}

/** The models of such a vendor, the newest first. */
export async function listModels(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const client = makeClient(vendor, address, settings);
  try {
    const { data } = await client.models.list({ signal });
    return data.sort((one, other) => (other.created ?? 0) - (one.created ?? 0)).map((model) => model.id);
  } catch (thrown) {
    if (signal.aborted) throw aborted();
    const member = speaker(vendor, settings);
    throw asFailure(misshapen(thrown, member.title), { member, model: null, apiKey: settings.apiKey });
  }
}

class OpenAIProvider implements Provider {
  readonly name: string;
  readonly #client: OpenAI;
  readonly #context: Omit<FailureContext, 'model'>;
  readonly #api: 'responses' | 'chat';
  readonly #idleTimeout: number;
  /** Another server than OpenAI's own, which may know the older names only. */
  readonly #compatible: boolean;

  constructor(vendor: Vendor, address: string, settings: ProviderSettings, client: OpenAI) {
    this.#idleTimeout = settings.idleTimeout;
    const base = settings.apiBase ?? address;
    const itself = /^https:\/\/(?:[\w-]+\.)*api\.openai\.com\b/.test(base);
    this.name = vendor.name;
    this.#client = client;
    this.#context = { member: speaker(vendor, settings), apiKey: settings.apiKey };
    this.#api = settings.openaiApi === 'auto' ? (itself ? 'responses' : 'chat') : settings.openaiApi;
    this.#compatible = !itself && !/\.azure\.com\b/.test(base);
  }

  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent> {
    const { title } = this.#context.member;
    const options = { provider: this.name, title, idleTimeout: this.#idleTimeout, compatible: this.#compatible };
    const start = (both: AbortSignal) =>
      this.#api === 'responses'
        ? streamResponses(this.#client, stripImages(request), options, both)
        : streamChat(this.#client, stripImages(request), options, both);
    return guarded(start, { ...this.#context, model: request.model }, signal);
  }
}

/** Whom an error is about: behind an address of the user's own it is not the vendor. */
function speaker(vendor: Vendor, { apiBase }: ProviderSettings): FailureContext['member'] {
  if (apiBase === null) return vendor;
  const host = URL.canParse(apiBase) ? new URL(apiBase).host : apiBase;
  return host.endsWith('openai.com') ? vendor : { ...vendor, title: `the server at '${host}'`, keyPage: null };
}

function makeClient(vendor: Vendor, address: string, settings: ProviderSettings): OpenAI {
  // A server at another address may want no key.
  const apiKey = settings.apiBase === null ? requireKey(vendor, settings) : settings.apiKey;
  quietConsole(settings.trace);
  return new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL: settings.apiBase ?? address,
    maxRetries: 0,
    timeout: SDK_TIMEOUT,
    logLevel: 'off',
    fetch: makeFetch(settings),
    ...(apiKey === null && { defaultHeaders: { Authorization: null } }),
  });
}
