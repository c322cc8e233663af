import type { CompressBlock, Entry, NewCompressBlock } from '../chat/entry.js';
import type { ChatEvent, CompactionReport } from '../chat/event.js';
import { HiError } from '../errors.js';
import { newestBlock } from '../view/view.js';
import { collectGarbage } from './attachments.js';
import type { HistoryPaths } from './base/history-paths.js';
import type { Log } from './log.js';

/**
 * Appends the block that `write` creates from the log. The lock is not held while a model writes: if another process
 * appends a block meanwhile, this one is dropped. Yields events, the `compact` event last; returns the compaction, by
 * this or the other process, or null if there was nothing to do.
 */
export async function* appendBlock(
  log: Log,
  paths: HistoryPaths,
  write: (entries: readonly Entry[], unloaded: number) => AsyncGenerator<ChatEvent, NewCompressBlock | null>,
  archive: 'keep' | 'discard',
  now: () => Date,
  signal?: AbortSignal,
): AsyncGenerator<ChatEvent, CompactionReport | null> {
  await log.refresh();
  const { name, unloaded, edition } = log;
  const entries = [...log.entries];
  const newest = newestBlock(entries);
  const made = yield* write(entries, unloaded);
  if (made === null) return null;
  const planned = (next: number): readonly CompressBlock[] => {
    // What was forgotten since would come back with a summary.
    const alone = log.edition === edition && newestBlock(log.entries)?.id === newest?.id;
    return alone ? [{ id: next, at: now().toISOString(), ...made }] : [];
  };
  const [block] = await log.write(planned, signal);
  if (block === undefined) {
    const other = newestBlock(log.entries);
    const isForgotten = log.name === name && other?.id === newest?.id;
    const what = isForgotten ? 'forgot a part of' : other === null ? 'cleared' : 'compacted';
    yield { type: 'notice', level: 'info', text: `Another hi ${what} the conversation meanwhile.` };
    return isForgotten ? null : other && reportOf(other);
  }
  if (archive === 'discard') yield* discarded(log, paths);
  yield { type: 'compact', ...reportOf(block) };
  return reportOf(block);
}

function reportOf(block: CompressBlock): CompactionReport {
  const { strategy, source, messages_compacted, messages_kept, tokens_before, tokens_after } = block;
  return { strategy, source, messages_compacted, messages_kept, tokens_before, tokens_after };
}

/** Removes the originals. The compaction is on disk by then, so a failure is only a warning. */
async function* discarded(log: Log, paths: HistoryPaths): AsyncGenerator<ChatEvent> {
  try {
    await log.discard((logs) => collectGarbage(paths, logs));
  } catch (thrown) {
    if (!(thrown instanceof HiError)) throw thrown;
    const text = `The compacted messages could not be removed from the archive. ${thrown.message}`;
    yield { type: 'notice', level: 'warning', text };
  }
}
