import type { Billing, Usage } from './message.js';

/** The usage of a turn before its first request. */
export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, context_tokens: 0 };

/** The sum of the usage of two requests. The window is as full as after the second. */
export function addUsage(first: Usage, second: Usage): Usage {
  const billing = addBilling(first.billing, second.billing);
  return {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    cached_tokens: first.cached_tokens + second.cached_tokens,
    context_tokens: second.context_tokens,
    ...(billing !== undefined && { billing }),
  };
}

const COUNTS = ['cache_write_tokens', 'cache_write_1h_tokens', 'web_searches', 'cost'] as const;

function addBilling(first: Billing | undefined, second: Billing | undefined): Billing | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const sums = COUNTS.map((name) => [name, (first[name] ?? 0) + (second[name] ?? 0)] as const);
  return { ...first, ...second, ...Object.fromEntries(sums.filter(([, sum]) => sum > 0)) };
}

/** The fields of a bill that say something; nothing if none does. */
export function billed(billing: Billing): { readonly billing?: Billing } {
  const said = Object.entries(billing).filter(([, value]) => Boolean(value));
  return said.length === 0 ? {} : { billing: Object.fromEntries(said) };
}
