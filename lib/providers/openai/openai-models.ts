import type { ThinkingLevel } from '../../chat/model.js';

/** False for models that reject all reasoning settings: GPT-3 and 4, and the ChatGPT ones. */
export function canReason(model: string): boolean {
  return !/gpt-[34]|chatgpt|gpt-5[\d.]*-chat/.test(model);
}

/** OpenAI's name for a thinking level. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * The effort of a model for a level, according to OpenAI's model pages. `none` came with GPT-5.1; before that the lowest was `minimal`, and `low` on the
 * o-series, Codex and gpt-oss. `xhigh` came with GPT-5.2 and Codex Max, `max` with GPT-5.6. The Pro models have only high efforts. Other vendors' models get
 * the level's own name.
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

/** NaN for other vendors' models. */
function versionOf(name: string): number {
  if (/^o\d|^gpt-oss/.test(name)) return 0;
  return Number(/^gpt-(\d+(?:\.\d+)?)/.exec(name)?.[1] ?? Number.NaN);
}

function leastEffort(name: string, version: number): Effort {
  // GPT-6.1 Sol and 6 Astra always think.
  if (/^gpt-6(?:\.1-sol|-astra)/.test(name)) return 'low';
  if (version === 0 || /codex/.test(name)) return 'low';
  return version < 5.1 ? 'minimal' : 'none';
}
