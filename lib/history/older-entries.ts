import type { Entry } from '../chat/entry.js';
import { stateOf } from '../view/block-state.js';
import { newestBase } from '../view/view.js';
import { Damaged } from './file/frames/damaged.js';
import { LogFile } from './file/log-file.js';
import type { ArrayFile } from './repair/array-file.js';

/**
 * The entries before the loaded ones that a block restores: they had left memory with the compaction that the block undoes. Empty if there is no such block.
 * Entries that cannot be read are left out; a repair will find them.
 */
export function olderEntries(file: LogFile | ArrayFile | null, loaded: readonly Entry[]): readonly Entry[] {
  const base = newestBase(loaded);
  const [first] = loaded;
  if (!(file instanceof LogFile) || base?.restores === undefined || first === undefined) return [];
  const { also, open } = stateOf(base);
  const from = [base.first_kept ?? base.id, ...also, ...open].reduce((least, id) => Math.min(least, id));
  try {
    return from < first.id ? file.between(from, first.id) : [];
  } catch (thrown) {
    if (thrown instanceof Damaged) return [];
    throw thrown;
  }
}
