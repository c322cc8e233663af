import type OpenAI from 'openai';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Feature, ModelFacts } from '../../chat/model.js';
import { askVendor } from '../common/answer/stream.js';
import type { FailureContext } from '../common/failure/failure-text.js';
import { factsOf, type ListedModel, listedModel } from '../common/models/listed-model.js';
import { isOpenAI } from './openai-address.js';

/** The models of a vendor with OpenAI's protocol at `address`, newest first. */
export async function listModels(
  client: OpenAI,
  context: FailureContext,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const list = async () => {
    const created = (model: JsonObject) => Number(model.created ?? 0);
    const newestFirst = (await listedBy(client, signal)).toSorted((one, other) => created(other) - created(one));
    return newestFirst.map((model) => listedModel(String(model.id), model));
  };
  return await askVendor(list, context, signal);
}

/** The entries of the server's list. Together sends it without an object around it. */
async function listedBy(client: OpenAI, signal: AbortSignal): Promise<JsonObject[]> {
  const answer: unknown = await client.models
    .list({ signal })
    .asResponse()
    .then((response) => response.json());
  const list = isJsonObject(answer) ? answer.data : answer;
  if (!Array.isArray(list)) throw new TypeError('The list of models is not a list.');
  return list.filter(isJsonObject).filter(({ id }) => typeof id === 'string');
}

/** The facts that such a vendor reports about one model, from its entry in the list. llama.cpp reports the window per conversation at another address. */
export async function askFacts(
  client: OpenAI,
  context: FailureContext,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  // OpenAI itself lists only names.
  if (isOpenAI(client.baseURL)) return {};
  const ask = async () => {
    const data = await listedBy(client, signal);
    // llama.cpp accepts any name when it serves one model.
    const entry = data.find(({ id }) => id === model) ?? (data.length === 1 ? data[0] : undefined);
    const facts = factsOf(entry);
    if (entry?.owned_by === 'llamacpp') return { ...facts, ...(await llamaFacts(client, signal)) };
    return facts.context_window === undefined ? { ...facts, ...(await gatewayFacts(client, model, signal)) } : facts;
  };
  return await askVendor(ask, context, signal);
}

/** The facts from LiteLLM's proxy, whose model list has only names; empty for other servers. */
async function gatewayFacts(client: OpenAI, model: string, signal: AbortSignal): Promise<ModelFacts> {
  const answer: unknown = await client.get('/model/info', { signal }).catch(() => null);
  const entries = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  const entry = entries.find(({ model_name }) => model_name === model);
  return entry === undefined ? {} : factsOf(entry);
}

/** The facts from llama.cpp's server. Its model list has only the window that all conversations share, and the one that the model was trained with. */
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
  const known = Object.entries(names).filter(([name]) => typeof flags[name] === 'boolean');
  return Object.fromEntries(known.map(([name, feature]) => [feature, flags[name]]));
}
