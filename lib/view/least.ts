import { asTokens, estimateTokens, type Tokens } from '../chat/request.js';
import { stateOf } from './block-state.js';
import { lastGroup } from './cuts.js';
import { charactersOf } from './size.js';
import type { View } from './view.js';

/** The least room for a new summary, in tokens. */
export const LEAST_PROSE = 128;

/** The least size of the text that replaces messages: the old block's text, or, if a new one is written, a short text and the facts that code keeps. */
export function leastSummary({ block }: View, writes: boolean): Tokens {
  const content = block?.content.length ?? 0;
  return asTokens(writes ? LEAST_PROSE + estimateTokens(content - stateOf(block).prose) : estimateTokens(content));
}

/**
 * The least size a pass can reduce a view to, in estimated tokens: what is pinned, the newest user message, the messages the model has not read yet, and the text that replaces
 * the rest. A shorter text is expected only where the last pass wrote one: not after truncation, and not after a failed summary, so that not every
 * request tries again.
 */
export function leastLeft(view: View): Tokens {
  const { messages } = view;
  const newestUser = messages.findLastIndex((message) => message.role === 'user');
  const last = lastGroup(messages);
  let characters = 0;
  for (const [index, message] of messages.entries()) {
    if (index >= last || index === newestUser || view.pinned?.has(message.id)) characters += charactersOf(message);
  }
  const source = view.block?.source ?? 'model';
  const writes = source === 'model' || source === 'cache';
  return asTokens(estimateTokens(characters) + leastSummary(view, writes));
}

/** How the measured size of a view relates to its estimate. */
export interface RealSize {
  /** Real tokens for one estimated token, between 1 and 3. */
  readonly ratio: number;
  /** The tokens beyond that, which are not in the view: a gateway may add text to every request. */
  readonly hidden: number;
}

/** Compares the measured size of a view with its estimate. */
export function realSize(real: number, estimate: Tokens): RealSize {
  if (estimate === 0) return { ratio: 1, hidden: 0 };
  const ratio = Math.min(3, Math.max(1, real / estimate));
  return { ratio, hidden: Math.max(0, real - ratio * estimate) };
}
