import { estimateTokens } from '../chat/request.js';
import { stateOf } from './block-state.js';
import { charactersOf } from './size.js';
import type { View } from './view.js';

/** The weight of the previous ratio against new measurements, in tokens. */
const PRIOR_TOKENS = 1000;
/** At least the plain estimate; dense scripts reach three tokens for four characters. */
const LARGEST = 3;
/** The tokens that vendors add around the messages between two answers. */
const WRAPPING = 50;

/**
 * Real tokens for one estimated token of that model, between 1 and 3; `measured` is the last value from other requests.
 * Measured by the growth of the prompt between two answers with the same skills, so that everything except the messages cancels out. Stored in the block from
 * one compaction to the next.
 */
export function ratioOf(view: View, model: string, measured = 1): number {
  const known = Object.entries(stateOf(view.block).ratios).find(([name]) => isSameModel(name, model));
  const since = view.block?.id ?? -1;
  let real = Math.max(known?.[1] ?? 1, measured) * PRIOR_TOKENS;
  let estimated = PRIOR_TOKENS;
  let before: number | null = null;
  let characters = 0;
  let skills: string | null = null;
  let isSameSystem = true;
  for (const message of view.messages) {
    if (message.skills) {
      const active = JSON.stringify(message.skills.active);
      isSameSystem &&= active === skills;
      skills = active;
    }
    if (message.usage && message.id > since && isSameModel(message.model, model)) {
      const grown = before === null || !isSameSystem ? 0 : message.usage.input_tokens - before;
      const said = estimateTokens(characters);
      // A prompt that shrank was truncated by the server, or a skill was unloaded. Growth beyond that of the densest script may come from a
      // larger preamble or more tools, and is capped.
      if (grown > 0) {
        real += Math.min(grown, LARGEST * said + WRAPPING);
        estimated += said;
      }
      before = message.usage.context_tokens;
      characters = 0;
      isSameSystem = true;
    } else characters += charactersOf(message);
  }
  return Math.min(LARGEST, Math.max(1, real / estimated));
}

/** The ratio of one request: its tokens by the model's own count for each token of its estimate. Null for a request that is too small to measure. */
export function shownRatio(real: number, estimate: number): number | null {
  if (estimate < LEAST_SHOWN) return null;
  return Math.min(LARGEST, Math.max(1, Math.round((100 * real) / estimate) / 100));
}

/** In a request of fewer tokens the template weighs more than the text. */
const LEAST_SHOWN = 200;

/** The ratios for the next block: the previous ones, updated for the model that answered last. */
export function ratiosOf(view: View): Readonly<Record<string, number>> {
  const model = view.messages.findLast((message) => message.model !== undefined)?.model;
  const known = stateOf(view.block).ratios;
  if (model === undefined) return known;
  const others = Object.entries(known).filter(([name]) => !isSameModel(name, model));
  return Object.fromEntries([...others.slice(-7), [model, Math.round(ratioOf(view, model) * 100) / 100]]);
}

/** True for two names of one model: with and without its date, its tag or the vendor's prefix. */
export function isSameModel(one: string | undefined, other: string): boolean {
  if (one === undefined) return false;
  const [short, long] = [bareName(one), bareName(other)].sort((a, b) => a.length - b.length);
  if (short === undefined || long === undefined || !long.startsWith(short)) return false;
  return /^$|^[-@:](?:\d{4}|latest)/.test(long.slice(short.length));
}

const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1);
