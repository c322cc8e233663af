import { COMPRESSIONS } from '../../compaction/cache.js';
import type { Paths } from '../../config/paths.js';
import { HiError, systemCode } from '../../errors.js';
import { removeEmptyFolder, removeFiles, removeWithLeftovers } from '../../remove-files.js';
import { OUTPUTS } from '../../tools/shell/limit-output.js';

/**
 * Removes what `hi` made outside the history and what may hold parts of the conversation: summaries, outputs, inputs, logs. Whatever else lies in these folders
 * stays: they may be anybody's. Throws a `HiError` of code `history` naming what could not be removed.
 */
export function purgeCaches(paths: Paths): void {
  for (const [folder, names] of [
    [paths.compressions, COMPRESSIONS],
    [paths.outputs, OUTPUTS],
  ] as const) {
    removing(folder, () => removeFiles(folder, names));
    removeEmptyFolder(folder);
  }
  for (const path of [paths.inputHistory, paths.knownSkills, paths.warned, paths.log]) {
    removing(path, () => removeWithLeftovers(path));
  }
  removeEmptyFolder(paths.cache);
}

function removing(path: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    throw new HiError('history', `The conversation is cleared, but '${path}' could not be removed (${code}).`, {
      hint: 'Look at its owner and mode (ls -ld), then run it again.',
      cause,
    });
  }
}
