import { freemem } from 'node:os';
import type { ListResponse, Ollama, ShowResponse } from 'ollama/browser';
import { isJsonObject, type JsonObject, jsonText } from '../../chat/json.js';
import { estimateParts } from '../../chat/media.js';
import { type ModelFacts, THINKING_LEVELS } from '../../chat/model.js';
import { type ChatRequest, estimateTokens, IMAGE_TOKENS } from '../../chat/request.js';
import { type ListedModel, listedModel } from '../common/known-models.js';
import type { ModelQuestion, ProviderSettings } from '../common/provider.js';
import type { FailureContext } from '../common/provider-failure.js';
import { askVendor } from '../common/stream.js';

/** See `ProviderMember.listModels`. */
export async function listModelsOf(
  client: Ollama,
  context: FailureContext,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const list = async () => (await client.list()).models.map((model) => listedModel(model.name, model));
  return await askVendor(list, context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFactsOf(
  client: Ollama,
  context: FailureContext,
  settings: ProviderSettings,
  { model, known }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const ask = async () => {
    const [shown, { models: running }] = await Promise.all([client.show({ model }), client.ps()]);
    const loaded = loadedWindow(running, model);
    const info = infoOf(shown);
    const size = loaded === null && isHere(settings) ? sizeOf(await client.list(), model) : 0;
    const room = isHere(settings) ? freemem() - size : null;
    const affordable = affordableWindow(bytesPerToken(info), room);
    const largest = countIn(info, '.context_length');
    // A model in the cloud has its full window.
    const remote = isRemote(shown, settings) ? largest : null;
    const fixed = remote ?? serverWindow(loaded, known) ?? (isHere(settings) ? environmentWindow(settings) : null);
    const window = fixed ?? affordable;
    return {
      context_window: largest === null ? window : Math.min(largest, window),
      server: { fixed_window: fixed ?? 0, ...(fixed === null && loaded !== null && { loaded_window: loaded }) },
      ...capabilities(shown),
    };
  };
  return await askVendor(ask, context, signal);
}

/** Whether the server runs on this machine and uses its memory. */
function isHere({ apiBase }: ProviderSettings): boolean {
  return apiBase === null || ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(apiBase).hostname);
}

/** Whether the model runs in Ollama's cloud, directly or through a local server. */
function isRemote(shown: object, { apiBase }: ProviderSettings): boolean {
  return 'remote_host' in shown || (apiBase !== null && /(?:^|\.)ollama\.com$/.test(new URL(apiBase).hostname));
}

/** The window that the environment sets for servers on this machine. */
function environmentWindow({ env }: ProviderSettings): number | null {
  const set = Number(env.OLLAMA_CONTEXT_LENGTH ?? 0);
  return Number.isSafeInteger(set) && set > 0 ? set : null;
}

/** The size of a model's file in bytes; 0 if it is not listed, as for one in the cloud. */
function sizeOf({ models }: ListResponse, model: string): number {
  return models.find(({ name }) => name === model || name === `${model}:latest`)?.size ?? 0;
}

/** A value by the end of its key, which begins with the model's architecture. */
function countIn(info: JsonObject, end: string): number | null {
  const value = Object.entries(info).find(([name]) => name.endsWith(end))?.[1];
  return typeof value === 'number' && value > 0 ? value : null;
}

/** The SDK's types say `Map`, but the server sends an object. */
function infoOf({ model_info }: Partial<ShowResponse>): JsonObject {
  const info: unknown = model_info;
  return isJsonObject(info) ? info : {};
}

/** Older servers do not report capabilities. */
function capabilities({ capabilities: can }: Partial<ShowResponse>): Pick<ModelFacts, 'takes'> {
  if (can === undefined) return {};
  const levels = can.includes('thinking') ? [] : THINKING_LEVELS.filter((level) => level !== 'off');
  return {
    takes: {
      tools: can.includes('tools'),
      images: can.includes('vision'),
      ...Object.fromEntries(levels.map((level) => [`thinking ${level}`, false])),
    },
  };
}

/** The window if the memory is unknown: Ollama's own for medium-sized machines. */
const USUAL = 32_768;

/** A window for which every machine that can hold the model has memory: Ollama's own default. */
const LEAST = 4096;

/** The share of the remaining memory for a conversation: other programs need some, and the estimate is rough. */
const SHARE = 0.5;

/**
 * The largest window that fits the memory, a power of two, so that a little more or less memory changes nothing. `room`
 * is the memory left next to the model in bytes, null if unknown.
 */
export function affordableWindow(perToken: number | null, room: number | null): number {
  if (perToken === null || room === null) return USUAL;
  const tokens = Math.floor((SHARE * room) / perToken);
  return tokens <= LEAST ? LEAST : 2 ** Math.floor(Math.log2(tokens));
}

/**
 * The bytes per token of the conversation: a key and a value of two bytes per number, for every head of every layer.
 * Null if the server does not say.
 */
export function bytesPerToken(info: JsonObject): number | null {
  const fact = (end: string): unknown => Object.entries(info).find(([name]) => name.endsWith(end))?.[1];
  const layers = countOf(fact('.block_count'));
  const heads = countOf(fact('.attention.head_count'));
  const keyHeads = fact('.attention.head_count_kv') ?? heads;
  // Some models have a different number of heads in each layer.
  const perLayer = Array.isArray(keyHeads) ? keyHeads.map((count) => Number(count) || 0) : null;
  const allHeads = perLayer?.reduce((sum, count) => sum + count, 0) ?? (layers ?? 0) * (countOf(keyHeads) ?? 0);
  const length = countOf(fact('.embedding_length'));
  const usual = length !== null && heads !== null ? length / heads : null;
  const key = countOf(fact('.attention.key_length')) ?? usual;
  const value = countOf(fact('.attention.value_length')) ?? key;
  if (allHeads === 0 || key === null || value === null) return null;
  return allHeads * (key + value) * 2;
}

const countOf = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);

/** Below this estimate a difference proves nothing: templates, tools and the tokenizer matter too much. */
const SMALLEST_ESTIMATE = 1000;

/** No window is smaller: a lower count means something else. */
const SMALLEST_WINDOW = 256;

/** An uncut prompt has at least this share of its estimate (characters / 4) in tokens. */
const LEAST_SHARE = 0.6;

/** The same once the ratio was measured and is part of the estimate. */
const LEAST_MEASURED = 0.7;

/** The previous prompt of the same model, which the server may have cached. */
export type Earlier = { readonly estimate: number } | null;

/**
 * Whether the server read clearly less than was sent: servers before 0.12 silently cut off the oldest part of a prompt
 * that exceeds the window. Some (before 0.4, and 0.30) count only uncached tokens, so a count that could be such a one
 * is accepted. `asked` is the window of the request.
 */
export function isCut(
  request: ChatRequest,
  read: number | undefined,
  { asked, earlier }: { readonly asked: number | null; readonly earlier: Earlier },
): read is number {
  const estimate = textTokens(request);
  if (!read || read < SMALLEST_WINDOW || estimate < SMALLEST_ESTIMATE) return false;
  // A cut prompt fills the window to the last token.
  if (read === asked) return true;
  const share = request.facts?.token_ratio === undefined ? LEAST_SHARE : LEAST_MEASURED;
  if (read >= share * estimate) return false;
  return earlier === null || read > 1.5 * Math.max(0, estimate - earlier.estimate) + 200;
}

/** The warning that the prompt was cut. `loaded` is the window that the server reports. */
export function promptCutNotice(request: ChatRequest, read: number, loaded: number | null): string {
  const window = loaded === null ? `the window of '${request.model}' here (see: ollama show)` : `${loaded}`;
  return (
    `Ollama read only ${read} of about ${textTokens(request)} tokens: the oldest part of the conversation was cut off silently. ` +
    (request.context_window === request.facts?.context_window
      ? `From now on its window counts as ${loaded ?? read} tokens.`
      : `Set context_window (now ${request.context_window}) to ${window}, or use /compact.`)
  );
}

/**
 * The estimate of the text only: without images, which are estimated at a flat rate, and without parts that are not
 * sent as they are.
 */
export function textTokens({ estimated_tokens, messages, system, tools, facts }: ChatRequest): number {
  const parts = messages.flatMap(({ content }) => content);
  const images = parts.filter(({ type }) => type === 'image');
  const words = parts.filter(({ type }) => type !== 'image' && type !== 'document');
  const sent = estimateParts(words) + estimateTokens(system.join('').length + jsonText(tools).length);
  const most = Math.ceil(sent * (facts?.token_ratio ?? 1));
  return Math.max(0, Math.min(estimated_tokens - images.length * IMAGE_TOKENS, most));
}

/**
 * The window that a model is loaded with, from /api/ps; null if it is not loaded or the server is too old to report it.
 */
export function loadedWindow(running: readonly object[], model: string): number | null {
  const names = [model, `${model}:latest`];
  const found = running.find((one) => 'name' in one && typeof one.name === 'string' && names.includes(one.name));
  if (found === undefined || !('context_length' in found)) return null;
  return typeof found.context_length === 'number' && found.context_length > 0 ? found.context_length : null;
}

/** Ollama's default window on most machines. */
const PLAIN_DEFAULT = 4096;

/**
 * The window that the user set for the server (OLLAMA_CONTEXT_LENGTH), derived from the loaded one: neither the default
 * nor the one that hi requested. Null if there is none.
 */
export function serverWindow(loaded: number | null, { server = {} }: ModelFacts): number | null {
  if (loaded === null) return server.fixed_window || null;
  return loaded === PLAIN_DEFAULT || loaded === server.loaded_window ? null : loaded;
}

/** Few and far apart, since the server reloads the model when the window changes. */
const STEPS = [4096, 16_384, 65_536, 262_144];

/** The room for the answer, in tokens. The answer ends when it is used up. */
const ANSWER = 1024;

/**
 * The `num_ctx` of a request: the room it needs, in large steps, and never less than the loaded window, so that a short
 * request does not reload the model. Null leaves it to the server: if its own setting applies, or for the first request
 * while that is unknown, if the smallest default is large enough.
 */
export function windowOption(request: ChatRequest): number | null {
  const { context_window, estimated_tokens, max_output_tokens, facts = {} } = request;
  // The user set it, or the server did not report one.
  if (context_window !== facts.context_window) return context_window;
  const { fixed_window, loaded_window } = facts.server ?? {};
  if (fixed_window) return null;
  const ratio = facts.token_ratio === undefined ? UNKNOWN_RATIO : 1;
  const needed = Math.ceil(estimated_tokens * ratio) + (max_output_tokens ?? ANSWER);
  if (loaded_window === undefined && needed <= PLAIN_DEFAULT) return null;
  const step = STEPS.find((size) => size >= needed) ?? context_window;
  return Math.min(context_window, Math.max(step, loaded_window ?? 0));
}

/** The assumed tokens for each estimated token until the first count; later the estimate includes the ratio. */
const UNKNOWN_RATIO = 1.5;

/** The window as a request revealed it. `loaded` is the window after a request that left it to the server. */
export function learntWindow(asked: number | null, loaded: number | null, facts: ModelFacts): ModelFacts | null {
  if (asked !== null) return asked === facts.server?.loaded_window ? null : { server: { loaded_window: asked } };
  if (loaded === null) return null;
  const fixed = serverWindow(loaded, facts);
  return fixed === null
    ? { server: { loaded_window: loaded } }
    : { context_window: fixed, server: { fixed_window: fixed } };
}
