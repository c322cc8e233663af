import { type Entry, isCompressBlock } from '../../chat/entry.js';
import type { ChatEvent, CompactionReport } from '../../chat/event.js';
import type { TextCache, TextModel } from '../../chat/request.js';
import { type Preview, preview } from '../../compaction/preview.js';
import { runStrategy } from '../../compaction/run-strategy.js';
import type { CompactionDeps, CompactionInput } from '../../compaction/strategy.js';
import { HiError } from '../../errors.js';
import type { HistoryStore } from '../../history/store.js';
import { coversAll, isWhole, newestBlock, withoutWhole } from '../../view/view.js';
import type { CompactionAhead } from './compaction-ahead.js';
import { madeWithoutWhole } from './whole-view.js';

/** How a compaction is requested: manually with options, or because it is due. */
export interface CompactionOrder {
  readonly reason: 'auto' | 'manual' | 'overflow';
  readonly focus: string | null;
  /** A strategy instead of the configured one. */
  readonly strategy: string | null;
  /** Whether the summary covers everything that was said, also what no summary covers yet. */
  readonly all?: boolean;
}

/** The input of a compaction without the part that comes from the history. */
export type OrderedCompaction = Omit<CompactionInput, 'entries' | 'unloaded'>;

/**
 * Runs one compaction of the history, or uses a draft written ahead. Yields its events, ending with `compact`; returns what was done, or null if
 * there was nothing to do.
 */
export async function* compactHistory(
  history: HistoryStore,
  ordered: OrderedCompaction,
  deps: CompactionDeps,
  signal: AbortSignal,
  ahead: CompactionAhead | null = null,
): AsyncGenerator<ChatEvent, CompactionReport | null> {
  const known = newestBlock(history.entries)?.id;
  return yield* history.compact(
    ordered.running,
    async function* (entries, running, unloaded) {
      // Another process may have compacted in the meantime.
      if (ordered.reason === 'auto' && newestBlock(entries)?.id !== known) return null;
      const current = whileCurrent(history, deps);
      return yield* madeWithoutWhole({ ...ordered, entries, running }, async function* (made) {
        const input = ordered.all
          ? { ...ordered, entries: await wholeOf(history), running, unloaded: 0 }
          : { ...ordered, entries: made, running, unloaded };
        const written = ahead === null ? null : yield* ahead.take(history.name, input, signal);
        return written ?? (yield* runStrategy(input, current, signal));
      });
    },
    ordered.settings.archive,
  );
}

/** What a compaction would do, without asking a model. Null if there is nothing to compact. */
export async function previewCompaction(history: HistoryStore, ordered: OrderedCompaction): Promise<Preview | null> {
  const { entries, unloaded } = history;
  if (ordered.all) return preview({ ...ordered, entries: await wholeOf(history), unloaded: 0 });
  return preview({ ...ordered, entries: withoutWhole(entries), unloaded });
}

/** The whole conversation, with the blocks up to the newest one whose text covers everything before its cut. */
async function wholeOf(history: HistoryStore): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of history.conversation()) if (!isWhole(entry)) entries.push(entry);
  const covering = entries.findLast((entry) => isCompressBlock(entry) && coversAll(entry))?.id ?? 0;
  return entries.filter((entry) => !isCompressBlock(entry) || entry.id <= covering);
}

/** The same, but once something of what is compacted is gone from the conversation, no more of it is sent, and no summary of it is cached. */
export function whileCurrent(history: HistoryStore, { models, cache, effects }: CompactionDeps): CompactionDeps {
  const { edition } = history;
  return {
    models: models.map((model) => askedWhile(model, history, edition)),
    cache: storedWhile(cache, history, edition),
    effects,
  };
}

function askedWhile(model: TextModel, history: HistoryStore, edition: number): TextModel {
  return {
    ...model,
    get context_window() {
      return model.context_window;
    },
    async write(prompt, onProgress, signal) {
      if (await history.isCurrent(edition)) return await model.write(prompt, onProgress, signal);
      throw new HiError('history', 'A part of the conversation was removed in the meantime.');
    },
  };
}

/** A cache that cannot be written is not an error. */
function ignoredHistoryError(thrown: unknown): void {
  if (!(thrown instanceof HiError)) throw thrown;
}

/** The same cache, but what is derived from a conversation in that edition is stored only while it is current, and under its lock. */
export function storedWhile(cache: TextCache, history: HistoryStore, edition: number): TextCache {
  return {
    get: (key) => cache.get(key),
    async put(key, text) {
      // Nothing is on disk then.
      if (history.isEphemeral) return await cache.put(key, text);
      let stored: Promise<void> | null = null;
      const store = (): void => {
        stored = cache.put(key, text);
      };
      await history.ifCurrent(edition, store).catch(ignoredHistoryError);
      await stored;
    },
  };
}
