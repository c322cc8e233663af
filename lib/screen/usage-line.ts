import type { Usage } from '../chat/message.js';
import { shortCount } from '../chat/transcript.js';

/** A request and its usage. */
export interface UsageOf {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
}

/** The tokens of a request on one line. */
export function usageLine({ provider, model, usage }: UsageOf, purpose: string): string {
  const cached = usage.cached_tokens > 0 ? ` (${shortCount(usage.cached_tokens)} cached)` : '';
  const tokens = `${shortCount(usage.input_tokens)} tokens in${cached} · ${shortCount(usage.output_tokens)} out`;
  return `${provider}/${model} · ${tokens} · ${purpose}`;
}

/** The cost of a turn for the usage line; empty if it was not requested. */
export function costPhrase(cost: number | null | undefined): string {
  if (cost === undefined) return '';
  return cost === null ? ' · cost unknown' : ` · $${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
}
