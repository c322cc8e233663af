import { asTokens, estimateTokens, type Tokens } from '../chat/tokens.js';
import { stateOf } from './block-state.js';
import { lastGroup } from './cuts.js';
import type { LimitSettings } from './limit.js';
import { charactersOf } from './size.js';
import type { View } from './view.js';

/** What the size of a view is measured against. */
export interface MeasureSettings extends LimitSettings {
  readonly strategy: string;
}

/** The least room for a text that will be written, in tokens. */
export const LEAST_PROSE = 128;

/** The least that stands for the messages that leave: all of the old block's text, or, when a new one is written, a short text and the facts that code carries. */
export function carriedTokens({ block }: View, writes: boolean): Tokens {
  const content = block?.content.length ?? 0;
  return asTokens(writes ? LEAST_PROSE + estimateTokens(content - stateOf(block).prose) : estimateTokens(content));
}

/**
 * The least a pass can leave of a view, in estimated tokens: the newest user message, what nobody has read yet, and the text that stands for the rest. After a
 * summary that failed no shorter text is expected, so that the next one is not tried with every request.
 */
export function leastLeft(view: View, { strategy }: MeasureSettings): Tokens {
  const { messages } = view;
  const newestUser = messages.findLastIndex((message) => message.role === 'user');
  const last = lastGroup(messages);
  let characters = 0;
  for (const [index, message] of messages.entries()) {
    if (index >= last || index === newestUser) characters += charactersOf(message);
  }
  const writes = strategy !== 'truncate' && view.block?.source !== 'fallback';
  return asTokens(estimateTokens(characters) + carriedTokens(view, writes));
}

/** What estimated tokens of a view are in real ones, as far as the number the trigger uses tells. */
export interface RealSize {
  /** Real tokens for one estimated token: between the plain estimate and three times as much. */
  readonly ratio: number;
  /** What is beyond that, and therefore not in the view: something on the way adds it to every request. */
  readonly hidden: number;
}

/** Compares what a view really takes with its estimate. */
export function realSize(real: number, estimate: Tokens): RealSize {
  if (estimate === 0) return { ratio: 1, hidden: 0 };
  const ratio = Math.min(3, Math.max(1, real / estimate));
  return { ratio, hidden: Math.max(0, real - ratio * estimate) };
}
