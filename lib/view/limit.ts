import { asTokens, type Tokens } from '../chat/tokens.js';

/** The settings that say how large a request may get. */
export interface LimitSettings {
  readonly context_window: number;
  readonly trigger_ratio: number;
  readonly max_input_tokens: number | null;
}

/** The trigger's share of the window by default. */
const DEFAULT_RATIO = 0.8;

/** The size in tokens at which a compaction is due. A `max_input_tokens` beyond the window would let requests outgrow the window, so it has no effect. */
export function triggerOf({ max_input_tokens, trigger_ratio, context_window }: LimitSettings): Tokens {
  if (max_input_tokens !== null && max_input_tokens <= context_window) return asTokens(max_input_tokens);
  return asTokens(Math.floor(trigger_ratio * context_window));
}

/**
 * The window that has this trigger by default, never more than the real one. What takes a share of the window takes its share of this: a limit that is small
 * beside the window leaves no room for more.
 */
export function effectiveWindow(settings: LimitSettings): Tokens {
  return asTokens(Math.min(settings.context_window, Math.ceil(triggerOf(settings) / DEFAULT_RATIO)));
}

/** How much of the window the facts may take, and the record of tools and images, in characters for each token of it. */
const FACT_SHARE = 0.05 * 4;
const ARTIFACT_SHARE = 0.02 * 4;

/** How many characters the facts may have together. Never squeezed by the prose: what is forgotten here is forgotten for good. */
export function factRoom(settings: LimitSettings): number {
  return Math.floor(effectiveWindow(settings) * FACT_SHARE);
}

/** How many characters the record of tools and images may have. */
export function artifactRoom(settings: LimitSettings): number {
  return Math.floor(effectiveWindow(settings) * ARTIFACT_SHARE);
}
