import type { ThinkingLevel } from '../../chat/model/thinking-level.js';

/** False for the models that refuse everything that has to do with reasoning: GPT-3 and 4, and the ChatGPT ones. */
export function canReason(model: string): boolean {
  return !/gpt-[34]|chatgpt|gpt-5[\d.]*-chat/.test(model);
}

/** OpenAI's word for a level of thinking. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * The effort that a model takes for a level, by OpenAI's pages of models: `none` came with GPT-5.1, before the least was `minimal`, and `low` on the o-series, Codex
 * and gpt-oss; `xhigh` came with GPT-5.2 and Codex Max, `max` with GPT-5.6; the Pro models think hard or harder. Another vendor's model gets the level's own name.
 */
export function effortOf(model: string, level: ThinkingLevel): Effort {
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (/^gpt-5-pro/.test(name)) return 'high';
  const version = versionOf(name);
  const isPro = /^gpt-.*-pro\b/.test(name);
  if (isPro && (level === 'off' || level === 'low')) return 'medium';
  if (level === 'off') return leastEffort(name, version);
  if (level !== 'xhigh' && level !== 'max') return level;
  if (version < 5.2 && !/codex-max/.test(name)) return 'high';
  return version < 5.6 ? 'xhigh' : level;
}

/** Not a number for what is none of OpenAI's. */
function versionOf(name: string): number {
  if (/^o\d|^gpt-oss/.test(name)) return 0;
  return Number(/^gpt-(\d+(?:\.\d+)?)/.exec(name)?.[1] ?? Number.NaN);
}

function leastEffort(name: string, version: number): Effort {
  if (version === 0 || /codex/.test(name)) return 'low';
  return version < 5.1 ? 'minimal' : 'none';
}
