import type { ChatEvent, CompactionReport } from '../chat/event.js';
import type { CompactionDeps, CompactionInput } from '../compaction/strategy.js';
import type { HistoryStore } from '../history/store.js';

/** How a compaction is done: by hand with options of its own, or because it is due. */
export interface CompactionOrder {
  readonly reason: 'auto' | 'manual' | 'overflow';
  readonly focus: string | null;
  /** Another strategy than the configured one. */
  readonly strategy: string | null;
}

/** Runs one compaction of the history. Yields what happens, last the `compact` event; returns what was done, or null when there was nothing to do. */
export async function* compactHistory(
  history: HistoryStore,
  input: Omit<CompactionInput, 'entries' | 'unloaded'>,
  deps: CompactionDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, CompactionReport | null> {
  const { runStrategy } = await import('../compaction/run-strategy.js');
  return yield* history.compact(
    input.running,
    (entries, running, unloaded) => runStrategy({ ...input, entries, running, unloaded }, deps, signal),
    input.settings.archive,
  );
}
