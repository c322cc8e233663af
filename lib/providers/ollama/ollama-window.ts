import type { ChatRequest } from '../../chat/request.js';
import { IMAGE_TOKENS } from '../../chat/tokens.js';

/** Below this estimate a difference means nothing: templates, tools and the way a model counts weigh too much. */
const SMALLEST_ESTIMATE = 1000;

/** The least share of the estimate (characters / 4) that a whole prompt has in tokens. */
const LEAST_SHARE = 0.6;

/** An earlier prompt of the same model, whose beginning the server may have kept. */
export type Earlier = { readonly estimate: number } | null;

/**
 * The warning when the server read clearly less than was sent: it silently cuts the oldest part of a prompt that is longer than its window. Null when all is
 * well or nothing can be said. Some versions (before 0.4, and 0.30) count only what was not in their cache, so a count that could be one of those is accepted.
 */
export function promptCutNotice(request: ChatRequest, read: number | undefined, earlier: Earlier): string | null {
  const estimate = textTokens(request);
  if (!read || estimate < SMALLEST_ESTIMATE || read >= LEAST_SHARE * estimate) return null;
  if (earlier !== null && read <= 1.5 * Math.max(0, estimate - earlier.estimate) + 200) return null;
  return (
    `Ollama read only ${read} of about ${estimate} tokens: the oldest part of the conversation was cut off silently. ` +
    `Set context_window (now ${request.context_window}) to what '${request.model}' has here (ollama show tells), or use /compact.`
  );
}

/** The estimate without images, which count a flat cost that no model here knows. */
export function textTokens({ estimated_tokens, messages }: ChatRequest): number {
  const images = messages.flatMap(({ content }) => content.filter((part) => part.type === 'image'));
  return Math.max(0, estimated_tokens - images.length * IMAGE_TOKENS);
}

/** The window a model is loaded with now, from what /api/ps lists; null when it is not loaded, or the server is too old to tell. */
export function loadedWindow(running: readonly object[], model: string): number | null {
  const names = [model, `${model}:latest`];
  const found = running.find((one) => 'name' in one && typeof one.name === 'string' && names.includes(one.name));
  if (found === undefined || !('context_length' in found)) return null;
  return typeof found.context_length === 'number' ? found.context_length : null;
}

/** The most a model can have, from what /api/show tells: the fact's name begins with the model's architecture. */
export function largestWindow({ model_info }: { readonly model_info?: unknown }): number | null {
  if (typeof model_info !== 'object' || model_info === null) return null;
  const entries: readonly (readonly [string, unknown])[] =
    model_info instanceof Map ? [...model_info] : Object.entries(model_info);
  const found = entries.find(([name]) => name.endsWith('.context_length'))?.[1];
  return typeof found === 'number' ? found : null;
}
