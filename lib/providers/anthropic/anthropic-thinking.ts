import type { ContentBlockParam, MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import type { ChatRequest } from '../../chat/request.js';

/** A message in our requests, which always consists of blocks. */
export interface VendorMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlockParam[];
}

/** The default answer limit in tokens. Every model since Claude 4 accepts it, and it fits next to a prompt at the compaction trigger. */
const MAX_TOKENS = 32_000;

/** The limit if the server may have refused a larger one. Every model accepts it. */
const SAFE_TOKENS = 4096;

/** The limit if the prompt seems to fill the window. The estimate may be too high. */
const LEAST_ANSWER = 256;

/** The thinking budget in tokens, for models that need a number. */
const BUDGET = { low: 4_000, medium: 12_000, high: 24_000, xhigh: 28_000, max: 30_000 } as const;

/** The answer limit in tokens when none is set. */
export function defaultMaxTokens({ model, context_window, estimated_tokens, facts }: ChatRequest): number {
  // Prompt and `max_tokens` together may not exceed the window.
  const room = Math.max(LEAST_ANSWER, context_window - estimated_tokens);
  if (facts?.takes?.output_limit === false) return Math.min(SAFE_TOKENS, facts.max_output_tokens ?? room, room);
  if (facts?.max_output_tokens !== undefined) return Math.min(facts.max_output_tokens, room);
  if (/claude-3-(?:opus|haiku|sonnet)/.test(model)) return 4096;
  if (/claude-3-5/.test(model)) return 8192;
  return Math.min(MAX_TOKENS, room);
}

/** From Claude 4.6 on, a model decides how much it thinks, guided by an effort. Earlier models need a budget and reject `adaptive`. */
export function toVendorThinking(
  { model, thinking, facts }: ChatRequest,
  max_tokens: number,
  messages: readonly VendorMessage[],
): Pick<MessageCreateParamsStreaming, 'thinking' | 'output_config'> {
  const isShown = facts?.takes?.extras !== false;
  const adaptive = { type: 'adaptive' as const, ...(isShown && { display: 'summarized' as const }) };
  if (thinking === null) return isShown && THINKS_BY_DEFAULT.test(model) ? { thinking: adaptive } : {};
  if (thinking === 'off') return withoutThinking(model);
  if (!WANTS_BUDGET.test(model)) {
    const effort = thinking === 'xhigh' && /-4[-.]6\b/.test(model) ? 'high' : thinking;
    return { thinking: adaptive, output_config: { effort } };
  }
  const budget_tokens = Math.min(BUDGET[thinking], max_tokens - 1024);
  if (budget_tokens < 1024 || isForeignToolTurn(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens } };
}

/** Some current models cannot turn thinking off. They get the lowest effort, and their thinking is omitted. */
function withoutThinking(model: string): Pick<MessageCreateParamsStreaming, 'thinking' | 'output_config'> {
  if (/sonnet-5[-.][5-9]\b/.test(model)) return { thinking: { type: 'between_tools' } };
  if (!ALWAYS_THINKS.test(model)) return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } };
}

/**
 * From Claude 5 on, models think without being asked, and are silent while they do: also what they say between tool calls is thinking then
 * (platform.claude.com/docs/en/build-with-claude/thinking).
 */
const THINKS_BY_DEFAULT = /claude-(?:fable|mythos|[a-z]+-(?:[5-9]|\d\d)(?!\d))/;

const ALWAYS_THINKS = /fable|mythos|opus-5[-.][5-9]\b/;

const WANTS_BUDGET = /claude-(?:3|[a-z]+-4(?![-.][6-9](?!\d)))/;

/** With a budget, an answer that is waiting for tool results must begin with thinking, which another vendor's answer does not have. */
function isForeignToolTurn(messages: readonly VendorMessage[]): boolean {
  const first = messages.findLast((message) => message.role === 'assistant')?.content[0]?.type;
  const waits = messages.at(-1)?.content.some((block) => block.type === 'tool_result') ?? false;
  return waits && first !== 'thinking' && first !== 'redacted_thinking';
}
