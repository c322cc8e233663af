import { estimateTokens } from '../chat/tokens.js';
import { stateOf } from './block-state.js';
import { charactersOf } from './size.js';
import type { View } from './view.js';

/** How many tokens the ratio known so far weighs against new measurements. */
const PRIOR_TOKENS = 1000;
/** Never below the plain estimate, and three tokens for four characters is what dense scripts reach. */
const LARGEST = 3;
/** What vendors wrap around the messages between two answers, in tokens. */
const WRAPPING = 50;

/**
 * Real tokens for one estimated token of that model, between 1 and 3.
 * Measured from what the prompt grew by between two answers that had the same skills, so that all but the messages cancels out; kept in the block from one compaction to the next.
 */
export function ratioOf(view: View, model: string): number {
  const known = Object.entries(stateOf(view.block).ratios).find(([name]) => isSameModel(name, model));
  const since = view.block?.id ?? -1;
  let real = (known?.[1] ?? 1) * PRIOR_TOKENS;
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
      // A prompt that shrank was cut by the server, or something was unloaded. What it grew by beyond what the densest script is taken for may be a
      // larger preamble or more tools, and counts for no more than that.
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

/** The ratios to keep in the next block: what was known, and the model that answered last measured anew. */
export function ratiosOf(view: View): Readonly<Record<string, number>> {
  const model = view.messages.findLast((message) => message.model !== undefined)?.model;
  const known = stateOf(view.block).ratios;
  if (model === undefined) return known;
  const others = Object.entries(known).filter(([name]) => !isSameModel(name, model));
  return Object.fromEntries([...others.slice(-7), [model, Math.round(ratioOf(view, model) * 100) / 100]]);
}

/** True for one model under two names: with and without its date, its tag or the vendor's prefix. */
export function isSameModel(one: string | undefined, other: string): boolean {
  if (one === undefined) return false;
  const [short, long] = [bareName(one), bareName(other)].sort((a, b) => a.length - b.length);
  if (short === undefined || long === undefined || !long.startsWith(short)) return false;
  return /^$|^[-@:](?:\d{4}|latest)/.test(long.slice(short.length));
}

const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1);
