import OpenAI from 'openai';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Feature, ModelFacts, Vendor } from '../../chat/model.js';
import { capitalised } from '../../chat/text.js';
import { WebNotice } from '../common/fit-request.js';
import { factsOf, type ListedModel, listedModel } from '../common/known-models.js';
import { FREE_FORM, formFor } from '../common/normalise-history.js';
import { type ModelQuestion, type Provider, type ProviderSettings, RequestRefusal } from '../common/provider.js';
import { type FailureContext, missingPath } from '../common/provider-failure.js';
import { requireKey, sdkOptions, withoutAccountHeaders } from '../common/sdk.js';
import { askVendor, StreamingProvider } from '../common/stream.js';
import { streamChat } from './openai-chat.js';
import { type Api, apiFor, clientAddress, isAzure, isOpenAI, shapeRequest } from './openai-models.js';
import { streamResponses } from './openai-responses.js';

/** The adapter for a vendor with OpenAI's protocol at `address`. */
export function create(vendor: Vendor, address: string, settings: ProviderSettings): Provider {
  const base = settings.apiBase ?? address;
  const clients = new Map<Api, OpenAI>();
  const clientFor = (api: Api): OpenAI => {
    const client = clients.get(api) ?? makeClient(vendor, base, settings, api);
    clients.set(api, client);
    return client;
  };
  // Throws at once if there is no key.
  clientFor(apiFor(base, settings.options?.api));
  const member = speaker(vendor, settings);
  const options = {
    provider: vendor.name,
    title: member.title,
    idleTimeout: settings.idleTimeout,
    // Other servers may know only the older names.
    compatible: !isOpenAI(base) && !isAzure(base),
    host: URL.canParse(base) ? new URL(base).hostname : '',
    notice: new WebNotice(),
  };
  return new StreamingProvider({ ...settings, member }, (request, signal) => {
    const shaped = shapeRequest(request, options);
    const api = apiFor(base, settings.options?.api, request.facts);
    const { deployment } = clientAddress(base, api);
    const named = deployment === null ? shaped : { ...shaped, model: deployment };
    const form = isOpenAI(base) ? FREE_FORM : formFor(base, request.model);
    return api === 'chat'
      ? streamChat(clientFor(api), named, { ...options, form }, signal)
      : sayingIfMissing(streamResponses(clientFor(api), named, { ...options, form }, signal), member.title);
  });
}

/** The answer through the Responses API; a refusal of that API where the server has nothing at its path. */
async function* sayingIfMissing(answer: AsyncIterable<StreamEvent>, title: string): AsyncGenerator<StreamEvent> {
  try {
    yield* answer;
  } catch (thrown) {
    const said = missingPath(thrown);
    if (said === null) throw thrown;
    throw new RequestRefusal('request', capitalised(`${title} has no Responses API: ${said}`), {
      hint: 'Check api_base, or set openai.api to "chat".',
      refused: { what: 'features', features: ['responses'] },
      said,
      param: null,
      cause: thrown,
    });
  }
}

/** The models of such a vendor, newest first. */
export async function listModels(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = {
    member: speaker(vendor, settings),
    model: null,
    apiKey: settings.apiKey,
    keySource: settings.keySource,
  };
  const client = makeClient(vendor, settings.apiBase ?? address, settings);
  const list = async () => {
    const created = (model: JsonObject) => Number(model.created ?? 0);
    const newestFirst = (await listedBy(client, signal)).toSorted((one, other) => created(other) - created(one));
    return newestFirst.map((model) => listedModel(String(model.id), model));
  };
  return await askVendor(list, context, signal);
}

/** The facts that such a vendor reports about one model. */
export async function askFacts(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  { model }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const context = { member: speaker(vendor, settings), model, apiKey: settings.apiKey, keySource: settings.keySource };
  const client = makeClient(vendor, settings.apiBase ?? address, settings);
  return await askVendor(() => reportedFacts(client, model, signal), context, signal);
}

/** The name of the server in errors: not the vendor if the user configured another address. */
function speaker(vendor: Vendor, { apiBase }: ProviderSettings): FailureContext['member'] {
  if (apiBase === null) return vendor;
  const host = URL.canParse(apiBase) ? new URL(apiBase).host : apiBase;
  return host.endsWith('openai.com') ? vendor : { ...vendor, title: `the server at '${host}'`, keyPage: null };
}

/** The SDK client for one API at the vendor's or the configured address. */
function makeClient(vendor: Vendor, base: string, settings: ProviderSettings, api: Api = 'chat'): OpenAI {
  // A server at another address may not need a key.
  const apiKey = settings.apiBase === null ? requireKey(vendor, settings) : settings.apiKey;
  const { baseURL, defaultQuery, deployment } = clientAddress(base, api);
  // Azure's older addresses take a token of Entra as others do, but a key in a header of its own.
  const isAzureKey = deployment !== null && apiKey !== null && !/^eyJ[\w-]*\./.test(apiKey);
  const headers = {
    ...(!isOpenAI(base) && withoutAccountHeaders(settings.env.OPENAI_CUSTOM_HEADERS)),
    ...((apiKey === null || isAzureKey) && { Authorization: null }),
    ...(isAzureKey && { 'api-key': apiKey }),
  };
  return new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL,
    defaultQuery,
    ...(!isOpenAI(base) && { organization: null, project: null }),
    ...sdkOptions(vendor, settings),
    defaultHeaders: headers,
  });
}

/**
 * The entries of the server's list. Together sends it without an object around it, others under another name, or names
 * alone.
 */
async function listedBy(client: OpenAI, signal: AbortSignal): Promise<JsonObject[]> {
  const answer: unknown = await client.models
    .list({ signal })
    .asResponse()
    .then((response) => response.json());
  const list = isJsonObject(answer) ? (answer.data ?? answer.models) : answer;
  if (!Array.isArray(list)) throw new TypeError('The list of models is not a list.');
  const entries = list.map((entry) => (typeof entry === 'string' ? { id: entry } : entry)).filter(isJsonObject);
  return entries.map((entry) => ({ ...entry, id: entry.id ?? entry.name })).filter(({ id }) => typeof id === 'string');
}

/** The facts in the model's entry in the list. llama.cpp reports the window per conversation at another address. */
async function reportedFacts(client: OpenAI, model: string, signal: AbortSignal): Promise<ModelFacts> {
  // OpenAI itself lists only names.
  if (isOpenAI(client.baseURL)) return {};
  const data = await listedBy(client, signal);
  // llama.cpp accepts any name when it serves one model.
  const entry = data.find(({ id }) => id === model) ?? (data.length === 1 ? data[0] : undefined);
  const facts = factsOf(entry);
  if (entry?.owned_by === 'llamacpp') return { ...facts, ...(await llamaFacts(client, signal)) };
  return facts.context_window === undefined ? { ...facts, ...(await gatewayFacts(client, model, signal)) } : facts;
}

/** The facts from LiteLLM's proxy, whose model list has only names; empty for other servers. */
async function gatewayFacts(client: OpenAI, model: string, signal: AbortSignal): Promise<ModelFacts> {
  const answer: unknown = await client.get('/model/info', { signal }).catch(() => null);
  const entries = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  const entry = entries.find(({ model_name }) => model_name === model);
  return entry === undefined ? {} : factsOf(entry);
}

/**
 * The facts from llama.cpp's server. Its model list has only the window that all conversations share, and the one that
 * the model was trained with.
 */
async function llamaFacts(client: OpenAI, signal: AbortSignal): Promise<ModelFacts> {
  const root = client.baseURL.replace(/\/v1\/?$/, '');
  const answer: unknown = await client.get(`${root}/props`, { signal }).catch(() => null);
  if (!isJsonObject(answer)) return {};
  const { default_generation_settings, modalities, chat_template_caps } = answer;
  const takes = { ...flagsOf(modalities, MODALITIES), ...flagsOf(chat_template_caps, TEMPLATE_CAPS) };
  return { ...factsOf(default_generation_settings), ...(Object.keys(takes).length > 0 && { takes }) };
}

const MODALITIES = { vision: 'images', audio: 'audio' } as const;

/** The features of the chat template. It silently drops what it does not support. */
const TEMPLATE_CAPS = {
  supports_tools: 'tools',
  supports_tool_calls: 'calls',
  supports_parallel_tool_calls: 'parallel_calls',
} as const;

function flagsOf(flags: unknown, names: Readonly<Record<string, Feature>>): ModelFacts['takes'] {
  if (!isJsonObject(flags)) return {};
  const known = Object.entries(names).map(([name, feature]) => [feature, flags[name]] as const);
  return Object.fromEntries(known.flatMap(([name, is]) => (typeof is === 'boolean' ? [[name, is]] : [])));
}
