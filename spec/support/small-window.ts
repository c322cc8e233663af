import type { Message } from '../../lib/chat/message.js';
import { asTokens, type TextPrompt } from '../../lib/chat/request.js';
import { type Summary, summarise } from '../../lib/compaction/summarise.js';

/** What the model of these specs writes in its n-th call. */
export const noteOf = (call: number): string => `They talked, part ${call}.`;

/**
 * The summary of twenty messages by a model with that window, every prompt it answered, and every one that was sent.
 * `check` may throw.
 */
export async function summariesIn(
  context_window: number,
  ratio: number,
  check: (prompt: TextPrompt) => void = () => {},
): Promise<{ readonly prompts: readonly TextPrompt[]; readonly sent: readonly TextPrompt[]; readonly prose: string }> {
  const prompts: TextPrompt[] = [];
  const sent: TextPrompt[] = [];
  const model = {
    provider: 'scripted',
    model: 'small',
    context_window,
    async write(prompt: TextPrompt) {
      sent.push(prompt);
      check(prompt);
      prompts.push(prompt);
      return { text: noteOf(prompts.length), stop_reason: 'end' as const, usage: null };
    },
  };
  const task = {
    messages: Array.from({ length: 20 }, (_, index) => messageOf(index)),
    unread: 0,
    earlier: '',
    ledger: { facts: [], forgotten: 0 },
    undone: new Set<number>(),
    all: false,
    factRoom: Math.floor(0.2 * context_window),
    context_window,
    budget: asTokens(512),
    target_ratio: 0.5,
    focus: null,
    language: null,
    ratio,
    timeout_ms: 10_000,
    idle_timeout_ms: 10_000,
  };
  const cache = { get: async () => null, put: async () => {} };
  const running = summarise(task, { models: [model], cache, effects: {} }, new AbortController().signal);
  for (;;) {
    const step: IteratorResult<unknown, Summary> = await running.next();
    if (step.done) return { prompts, sent, prose: step.value.prose };
  }
}

function messageOf(index: number): Message {
  const text = `Message ${index}. `.padEnd(900, 'and so on ');
  return {
    id: index,
    turn: index,
    role: index % 2 === 0 ? 'user' : 'assistant',
    at: '2026-01-01T00:00:00Z',
    cwd: '/',
    content: [{ type: 'text', text }],
  };
}
