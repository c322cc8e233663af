import type { Usage } from './message.js';

/** The usage of a turn before its first request. */
export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, context_tokens: 0 };

/** The sum of the usage of two requests. The window is as full as after the second. */
export function addUsage(first: Usage, second: Usage): Usage {
  return {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    cached_tokens: first.cached_tokens + second.cached_tokens,
    context_tokens: second.context_tokens,
  };
}
