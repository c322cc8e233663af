import { sizeOfPart } from '../chat/media.js';
import type { Message } from '../chat/message.js';
import { asTokens, DEFAULT_TRIGGER_RATIO, estimateTokens, IMAGE_TOKENS, type Tokens } from '../chat/request.js';

const KNOWN = new WeakMap<Message, number>();

/**
 * The size of a message in characters; an image counts with a fixed number. Cached, because views are measured before
 * every request.
 */
export function charactersOf(message: Message): number {
  const known = KNOWN.get(message);
  if (known !== undefined) return known;
  let characters = 0;
  for (const part of message.content) {
    const size = sizeOfPart(part);
    characters += size.characters + size.images * IMAGE_TOKENS * 4;
  }
  KNOWN.set(message, characters);
  return characters;
}

/** The characters of all messages together. */
export function totalCharacters(messages: readonly Message[]): number {
  let characters = 0;
  for (const message of messages) characters += charactersOf(message);
  return characters;
}

/** The chars/4 estimate of a view: its messages and the summary of older ones. */
export function estimateView(view: {
  readonly messages: readonly Message[];
  readonly block: { readonly content: string } | null;
}): Tokens {
  return estimateTokens(totalCharacters(view.messages) + (view.block?.content.length ?? 0));
}

/** The settings that limit the size of a request. */
export interface LimitSettings {
  readonly context_window: number;
  readonly trigger_ratio: number;
  readonly max_input_tokens: number | null;
  /** The model's tokens for each token of the estimate, as measured last; absent while none were counted. */
  readonly token_ratio?: number;
}

/** The size in tokens at which a compaction is due. A `max_input_tokens` larger than the window has no effect. */
export function triggerOf(settings: LimitSettings): Tokens {
  return asTokens(Math.floor(unrounded(settings)));
}

function unrounded({ max_input_tokens, trigger_ratio, context_window }: LimitSettings): number {
  const isLower = max_input_tokens !== null && max_input_tokens <= context_window;
  return isLower ? max_input_tokens : trigger_ratio * context_window;
}

/**
 * The window whose default trigger this would be, at most the real window. Shares of the window are computed from this
 * one, so that they fit under a `max_input_tokens` that is much smaller than the window.
 */
export function effectiveWindow(settings: LimitSettings): Tokens {
  return asTokens(Math.min(settings.context_window, Math.ceil(unrounded(settings) / DEFAULT_TRIGGER_RATIO)));
}

/** The shares of the window that facts and artifacts may take, in characters for each token of the window. */
const FACT_SHARE = 0.05 * 4;
const ARTIFACT_SHARE = 0.02 * 4;

/** The most characters of all facts together. Independent of the prose, because a dropped fact is lost for good. */
export function factRoom(settings: LimitSettings): number {
  return Math.floor(effectiveWindow(settings) * FACT_SHARE);
}

/** The most characters of all artifacts together. */
export function artifactRoom(settings: LimitSettings): number {
  return Math.floor(effectiveWindow(settings) * ARTIFACT_SHARE);
}
