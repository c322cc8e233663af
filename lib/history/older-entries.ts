import { type Entry, isCompressBlock } from '../chat/entry.js';
import { stateOf } from '../view/block-state.js';
import { isWhole, newestBase, newestBlock } from '../view/view.js';
import type { HistoryFile } from './history-file.js';

/** Whether a block brings messages back into view. */
export const restores = (entry: Entry): boolean =>
  isCompressBlock(entry) && (entry.restores !== undefined || isWhole(entry));

/**
 * The entries before the loaded ones that a block restores: they had left memory with the compaction that the block undoes. Empty if there is no such block.
 * Entries that cannot be read are left out; a repair will find them.
 */
export function olderEntries(disk: HistoryFile, loaded: readonly Entry[]): readonly Entry[] {
  const newest = newestBlock(loaded);
  const base = isWhole(newest) ? newest : newestBase(loaded);
  const [first] = loaded;
  if (base === null || !restores(base) || first === undefined) return [];
  const { also, open } = stateOf(base);
  const from = [base.first_kept ?? base.id, ...also, ...open].reduce((least, id) => Math.min(least, id));
  return from < first.id ? disk.between(from, first.id) : [];
}
