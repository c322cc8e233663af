import type { NewCompressBlock } from '../../lib/chat/entry.js';
import type { ChatEvent } from '../../lib/chat/event.js';
import type { TextCache, TextModel } from '../../lib/chat/request.js';
import { runStrategy } from '../../lib/compaction/run-strategy.js';
import type { CompactionInput, CompactionSettings } from '../../lib/compaction/strategy.js';
import { EFFECTS } from '../../lib/tools/tool-specs.js';
import type { Log } from './log.js';

/** The settings of a session, as the configuration has them by default. */
export const CONFIGURED: Omit<CompactionSettings, 'context_window'> = {
  strategy: 'summary',
  trigger_ratio: 0.8,
  max_input_tokens: null,
  keep_recent: 6,
  keep_ratio: 0.5,
  target_ratio: 0.5,
  fallback_keep: 10,
  timeout_ms: 120_000,
  idle_timeout_ms: 30_000,
  archive: 'keep',
  block_role: 'system',
};

/** The same in a window that specs can fill. */
export const SETTINGS: CompactionSettings = { ...CONFIGURED, context_window: 32_000 };

/** What a pass is told, between turns and by hand unless said otherwise. */
export function inputFor(log: Log, change: Partial<CompactionInput> = {}): CompactionInput {
  return {
    entries: log.entries,
    running: null,
    fixed_tokens: 0,
    settings: SETTINGS,
    reason: 'manual',
    focus: null,
    ...change,
  };
}

/** A cache in memory. */
export function memoryCache(): TextCache & { readonly stored: Map<string, string> } {
  const stored = new Map<string, string>();
  return {
    stored,
    get: async (key) => stored.get(key) ?? null,
    put: async (key, text) => void stored.set(key, text),
  };
}

/** Runs a pass to its end. */
export async function pass(
  input: CompactionInput,
  models: readonly TextModel[] = [],
  cache: TextCache = memoryCache(),
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly block: NewCompressBlock | null; readonly events: readonly ChatEvent[] }> {
  const events: ChatEvent[] = [];
  const running = runStrategy(input, { models, cache, effects: EFFECTS }, signal);
  for (;;) {
    const { done, value } = await running.next();
    if (done) return { block: value, events };
    events.push(value);
  }
}

/** What is said of a compaction by hand that has nothing to do. */
export const NOTHING = { type: 'notice', level: 'info', text: 'There is nothing to compact.' } as const;
