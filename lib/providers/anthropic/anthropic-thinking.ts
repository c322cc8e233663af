import type { ContentBlockParam, MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import type { ChatRequest } from '../../chat/request.js';

/** A message as we write it: always in blocks. */
export interface VendorMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlockParam[];
}

/** The most tokens of an answer when none are set: every model since Claude 4 takes as many, and they fit beside a prompt at the trigger. */
const MAX_TOKENS = 32_000;

/** Of an answer where a greater length may have been refused: every model writes as many. */
const SAFE_TOKENS = 4096;

/** Of an answer where the estimate leaves no room in the window: it may be too high. */
const LEAST_ANSWER = 256;

/** Tokens for thinking on the models that want a number. */
const BUDGET = { low: 4_000, medium: 12_000, high: 24_000, xhigh: 28_000, max: 30_000 } as const;

/** How long an answer may be when no limit is set. */
export function defaultMaxTokens({ model, context_window, estimated_tokens, facts }: ChatRequest): number {
  // Prompt and `max_tokens` together may not exceed the window.
  const room = Math.max(LEAST_ANSWER, context_window - estimated_tokens);
  if (facts?.takes?.output_limit === false) return Math.min(SAFE_TOKENS, facts.max_output_tokens ?? room, room);
  if (facts?.max_output_tokens !== undefined) return Math.min(facts.max_output_tokens, room);
  if (/claude-3-(?:opus|haiku|sonnet)/.test(model)) return 4096;
  if (/claude-3-5/.test(model)) return 8192;
  return Math.min(MAX_TOKENS, room);
}

/** From Claude 4.6 on a model decides for itself how much it thinks, guided by an effort; earlier ones want a budget, and refuse `adaptive`. */
export function toVendorThinking(
  { model, thinking }: ChatRequest,
  max_tokens: number,
  messages: readonly VendorMessage[],
): Pick<MessageCreateParamsStreaming, 'thinking' | 'output_config'> {
  if (thinking === null) return {};
  if (thinking === 'off') return withoutThinking(model);
  if (!WANTS_BUDGET.test(model)) {
    const effort = thinking === 'xhigh' && /-4[-.]6\b/.test(model) ? 'high' : thinking;
    return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } };
  }
  const budget_tokens = Math.min(BUDGET[thinking], max_tokens - 1024);
  if (budget_tokens < 1024 || isForeignToolTurn(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens } };
}

/** Some of today's models refuse to be told not to think: then they think as little as they can, and keep it to themselves. */
function withoutThinking(model: string): Pick<MessageCreateParamsStreaming, 'thinking' | 'output_config'> {
  if (/sonnet-5[-.][5-9]\b/.test(model)) return { thinking: { type: 'between_tools' } };
  if (!ALWAYS_THINKS.test(model)) return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } };
}

const ALWAYS_THINKS = /fable|mythos|opus-5[-.][5-9]\b/;

const WANTS_BUDGET = /claude-(?:3|[a-z]+-4(?![-.][6-9](?!\d)))/;

/** With a budget, an answer that waits for its results must begin with thinking, which another vendor's answer cannot. */
function isForeignToolTurn(messages: readonly VendorMessage[]): boolean {
  const first = messages.findLast((message) => message.role === 'assistant')?.content[0]?.type;
  const waits = messages.at(-1)?.content.some((block) => block.type === 'tool_result') ?? false;
  return waits && first !== 'thinking' && first !== 'redacted_thinking';
}
