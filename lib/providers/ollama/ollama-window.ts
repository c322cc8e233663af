import { jsonText } from '../../chat/json.js';
import { estimateParts } from '../../chat/media.js';
import type { ModelFacts } from '../../chat/model.js';
import { type ChatRequest, estimateTokens, IMAGE_TOKENS } from '../../chat/request.js';

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
 * Whether the server read clearly less than was sent: servers before 0.12 silently cut off the oldest part of a prompt that exceeds the window. Some (before
 * 0.4, and 0.30) count only uncached tokens, so a count that could be such a one is accepted. `asked` is the window of the request.
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

/** The estimate of the text only: without images, which are estimated at a flat rate, and without parts that are not sent as they are. */
export function textTokens({ estimated_tokens, messages, system, tools, facts }: ChatRequest): number {
  const parts = messages.flatMap(({ content }) => content);
  const images = parts.filter(({ type }) => type === 'image');
  const words = parts.filter(({ type }) => type !== 'image' && type !== 'document');
  const sent = estimateParts(words) + estimateTokens(system.join('').length + jsonText(tools).length);
  const most = Math.ceil(sent * (facts?.token_ratio ?? 1));
  return Math.max(0, Math.min(estimated_tokens - images.length * IMAGE_TOKENS, most));
}

/** The window that a model is loaded with, from /api/ps; null if it is not loaded or the server is too old to report it. */
export function loadedWindow(running: readonly object[], model: string): number | null {
  const names = [model, `${model}:latest`];
  const found = running.find((one) => 'name' in one && typeof one.name === 'string' && names.includes(one.name));
  if (found === undefined || !('context_length' in found)) return null;
  return typeof found.context_length === 'number' && found.context_length > 0 ? found.context_length : null;
}

/** Ollama's default window on most machines. */
const PLAIN_DEFAULT = 4096;

/**
 * The window that the user set for the server (OLLAMA_CONTEXT_LENGTH), derived from the loaded one: neither the default nor the one that hi requested.
 * Null if there is none.
 */
export function serverWindow(loaded: number | null, { fixed_window, loaded_window }: ModelFacts): number | null {
  if (loaded === null) return fixed_window || null;
  return loaded === PLAIN_DEFAULT || loaded === loaded_window ? null : loaded;
}

/** Few and far apart, since the server reloads the model when the window changes. */
const STEPS = [4096, 16_384, 65_536, 262_144];

/** The room for the answer, in tokens. The answer ends when it is used up. */
const ANSWER = 1024;

/**
 * The `num_ctx` of a request: the room it needs, in large steps, and never less than the loaded window, so that a short request does not reload the model. Null
 * leaves it to the server: if its own setting applies, or for the first request while that is unknown, if the smallest default is large enough.
 */
export function windowOption(request: ChatRequest): number | null {
  const { context_window, estimated_tokens, max_output_tokens, facts = {} } = request;
  // The user set it, or the server did not report one.
  if (context_window !== facts.context_window) return context_window;
  if (facts.fixed_window) return null;
  const ratio = facts.token_ratio === undefined ? UNKNOWN_RATIO : 1;
  const needed = Math.ceil(estimated_tokens * ratio) + (max_output_tokens ?? ANSWER);
  if (facts.loaded_window === undefined && needed <= PLAIN_DEFAULT) return null;
  const step = STEPS.find((size) => size >= needed) ?? context_window;
  return Math.min(context_window, Math.max(step, facts.loaded_window ?? 0));
}

/** The assumed tokens for each estimated token until the first count; later the estimate includes the ratio. */
const UNKNOWN_RATIO = 1.5;

/** What a request revealed about the window. `loaded` is the window after a request that left it to the server. */
export function learntWindow(asked: number | null, loaded: number | null, facts: ModelFacts): ModelFacts | null {
  if (asked !== null) return asked === facts.loaded_window ? null : { loaded_window: asked };
  if (loaded === null) return null;
  const fixed = serverWindow(loaded, facts);
  return fixed === null ? { loaded_window: loaded } : { context_window: fixed, fixed_window: fixed };
}
