import { freemem } from 'node:os';
import type { ListResponse, Ollama, ShowResponse } from 'ollama/browser';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { type ModelFacts, THINKING_LEVELS } from '../../chat/model.js';
import { askVendor } from '../common/answer/stream.js';
import type { FailureContext } from '../common/failure/failure-text.js';
import { type ListedModel, listedModel } from '../common/models/listed-model.js';
import type { ModelQuestion, ProviderSettings } from '../common/provider.js';
import { affordableWindow, bytesPerToken } from './ollama-memory.js';
import { loadedWindow, serverWindow } from './ollama-window.js';

/** See `ProviderMember.listModels`. */
export async function listModels(
  client: Ollama,
  context: FailureContext,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const list = async () => (await client.list()).models.map((model) => listedModel(model.name, model));
  return await askVendor(list, context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
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
      fixed_window: fixed ?? 0,
      ...(fixed === null && loaded !== null && { loaded_window: loaded }),
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
function capabilities({ capabilities: can }: Partial<ShowResponse>): Pick<ModelFacts, 'takes' | 'refused_thinking'> {
  if (can === undefined) return {};
  const levels = can.includes('thinking') ? [] : THINKING_LEVELS.filter((level) => level !== 'off');
  return {
    takes: { tools: can.includes('tools'), images: can.includes('vision') },
    ...(levels.length > 0 && { refused_thinking: levels }),
  };
}
