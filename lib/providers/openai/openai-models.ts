import type { ThinkingLevel } from '../../chat/thinking-level.js';

/** False for the models that refuse everything that has to do with reasoning: GPT-3 and 4, and the ChatGPT ones. */
export function canReason(model: string): boolean {
  return !/gpt-[34]|chatgpt|gpt-5[\d.]*-chat/.test(model);
}

/** OpenAI's word for a level of thinking. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * The effort that a model takes for a level, by OpenAI's pages of models: `none` came with GPT-5.1, before the least was `minimal`, and `low` on the o-series and
 * Codex; `xhigh` came with GPT-5.2, `max` with GPT-5.6. Another vendor's model gets the level's own name.
 */
export function effortOf(model: string, level: ThinkingLevel): Effort {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const version = Number(/^gpt-(\d+(?:\.\d+)?)/.exec(name)?.[1] ?? (/^o\d/.test(name) ? 0 : Number.NaN));
  if (/^gpt-5-pro/.test(name)) return 'high';
  if (level === 'off') return leastEffort(name, version);
  if (level === 'max' && version < 5.6) return version < 5.2 ? 'high' : 'xhigh';
  return level === 'xhigh' && version < 5.2 && !/codex-max/.test(name) ? 'high' : level;
}

function leastEffort(name: string, version: number): Effort {
  if (version === 0 || /codex/.test(name)) return 'low';
  return version < 5.1 ? 'minimal' : 'none';
}
