import Anthropic from '@anthropic-ai/sdk';
import type { JSONOutputFormat } from '@anthropic-ai/sdk/resources/messages';
import type { StreamEvent } from '../../chat/event.js';
import { parseObject } from '../../chat/json.js';
import { isOwnAddress, type ModelFacts, type Vendor } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { eventData, serverSentEvents } from '../../http/body.js';
import type { Fetch } from '../../http/fetch.js';
import { offersWeb } from '../common/fit-request.js';
import { factsOf, type ListedModel, listedModel } from '../common/known-models.js';
import { callIds, FREE_FORM, formFor, type TurnForm } from '../common/normalise-history.js';
import type { ModelQuestion, Provider, ProviderSettings } from '../common/provider.js';
import { headersOf, requireKey, sdkOptions, withoutAccountHeaders, withoutVersion } from '../common/sdk.js';
import { askVendor, asMalformed, StreamingProvider } from '../common/stream.js';
import { StreamedAnswer } from '../common/streamed-answer.js';
import type { SentRequest } from '../common/vendor-schema.js';
import { type AnswerState, asEvents, readEnd, readEvent, withPauses } from './anthropic-answer.js';
import { shapeRequest, toVendorRequest } from './anthropic-request.js';

/** See `ProviderMember.create`. */
export async function create(vendor: Vendor, settings: ProviderSettings): Promise<Provider> {
  const client = makeClient(vendor, settings);
  const { idleTimeout, apiBase } = settings;
  const isOwn = isOwnAddress(vendor, apiBase);
  // A gateway to Claude accepts the same requests as Claude, and caches the system text block by block.
  const formOf = (model: string) =>
    apiBase === null || isOwn || /claude/i.test(model) ? FREE_FORM : formFor(apiBase, model);
  const ask = (request: ChatRequest, signal: AbortSignal, pause = { isPaused: false }) => {
    const form = formOf(request.model);
    const shaped = shapeRequest(request, { compatible: form !== FREE_FORM });
    return streamMessages(client, shaped, { vendor, isOwn, idleTimeout, pause, form }, signal);
  };
  return new StreamingProvider({ ...settings, member: speaker(vendor, settings) }, (request, signal) =>
    offersWeb(request)
      ? withPauses(request, vendor.name, (asked, state) => ask(asked, signal, state))
      : ask(request, signal),
  );
}

/** See `ProviderMember.listModels`. */
export async function listModels(
  vendor: Vendor,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = {
    member: speaker(vendor, settings),
    model: null,
    apiKey: settings.apiKey,
    keySource: settings.keySource,
  };
  const list = async () => {
    const { data } = await makeClient(vendor, settings).models.list({ limit: 1000 }, { signal });
    return data.map((entry) => listedModel(entry.id, entry));
  };
  return await askVendor(list, context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
  vendor: Vendor,
  settings: ProviderSettings,
  { model }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const context = { member: speaker(vendor, settings), model, apiKey: settings.apiKey, keySource: settings.keySource };
  const ask = async () => factsOf(await makeClient(vendor, settings).models.retrieve(model, undefined, { signal }));
  return await askVendor(ask, context, signal);
}

interface StreamOptions {
  readonly vendor: Vendor;
  /** Whether the server is Anthropic's own. */
  readonly isOwn: boolean;
  readonly idleTimeout: number;
  /** Records that the answer ended in a pause. */
  readonly pause: { isPaused: boolean };
  readonly form: TurnForm;
}

/**
 * One answer. Reads the events itself: the SDK's reader treats an answer or an error that is not a stream as an empty
 * one.
 */
async function* streamMessages(
  client: Anthropic,
  request: SentRequest<JSONOutputFormat>,
  { vendor, isOwn, idleTimeout, pause, form }: StreamOptions,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const answer = new StreamedAnswer();
  const nextId = callIds(request.messages);
  const { body, prefix } = toVendorRequest(request, vendor.name, form, isOwn);
  const state: AnswerState = {
    usage: {},
    model: '',
    stop: null,
    detail: null,
    block: null,
    input: '',
    cited: [],
    read: [],
    prefix,
    pause,
  };
  const response = await client.messages
    .create({ ...body, ...request.extra?.body }, { signal, ...headersOf(request) })
    .asResponse();
  try {
    for await (const texts of serverSentEvents(response, idleTimeout)) {
      // One at a time: text before an error event is part of the answer.
      for (const text of texts) {
        for (const event of asEvents(eventData(text))) {
          // Not `yield*`: in an async generator, delegating to a plain one creates several promises per event.
          for (const one of readEvent(event, state, answer, nextId)) yield one;
          if (event.type === 'message_stop') yield* readEnd(state, answer, nextId);
        }
      }
    }
  } catch (thrown) {
    if (state.stop === null || signal.aborted) throw asMalformed(thrown, vendor.title);
  }
  // A stream that ends after the stop reason but before its last event is complete.
  yield* readEnd(state, answer, nextId);
}

/** The version that every other server with this protocol knows; the SDK's own is newer. */
const COMMON_VERSION = '2023-06-01';

/**
 * The SDK client for the vendor or the configured address. Other servers may want no key, or find it in one of two
 * headers.
 */
function makeClient(vendor: Vendor, settings: ProviderSettings): Anthropic {
  const { apiBase, env } = settings;
  const options = sdkOptions(vendor, settings);
  if (apiBase === null || isOwnAddress(vendor, apiBase))
    return new Anthropic({
      apiKey: requireKey(vendor, settings),
      baseURL: withoutVersion(apiBase ?? 'https://api.anthropic.com'),
      ...options,
    });
  const { apiKey } = settings;
  return new Anthropic({
    // Without any, the SDK would look for credentials of Anthropic's.
    apiKey: apiKey ?? 'none',
    baseURL: withoutVersion(apiBase),
    ...options,
    fetch: forVertex(options.fetch, apiBase),
    defaultHeaders: {
      ...withoutAccountHeaders(env.ANTHROPIC_CUSTOM_HEADERS),
      'anthropic-version': COMMON_VERSION,
      'x-api-key': apiKey,
      Authorization: apiKey === null ? null : `Bearer ${apiKey}`,
    },
  });
}

/**
 * At an address of Vertex AI the model is in the path, and the version in the body
 * (docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude).
 */
function forVertex(fetch: Fetch, apiBase: string): Fetch {
  const publisher = /^.*\/publishers\/anthropic(?=$|\/)/.exec(apiBase)?.[0];
  if (publisher === undefined) return fetch;
  return (input, init = {}) => {
    const { model, ...body } = parseObject(typeof init.body === 'string' ? init.body : '') ?? {};
    if (typeof model !== 'string') return fetch(input, init);
    const method = body.stream === true ? 'streamRawPredict' : 'rawPredict';
    const sent = JSON.stringify({ anthropic_version: 'vertex-2023-10-16', ...body });
    return fetch(`${publisher}/models/${model}:${method}`, { ...init, body: sent });
  };
}

/** The vendor in errors. A key for another server is not to be had from it. */
const speaker = (vendor: Vendor, { apiBase }: ProviderSettings): Vendor =>
  isOwnAddress(vendor, apiBase) ? vendor : { ...vendor, keyPage: null };
