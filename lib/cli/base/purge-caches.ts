import { COMPRESSIONS } from '../../compaction/cache.js';
import type { Paths } from '../../config/paths.js';
import { HiError, systemCode } from '../../errors.js';
import { LOGS } from '../../mcp/connection/server-log.js';
import { removeIndex } from '../../recall/disk/remove-index.js';
import { removeEmptyFolder, removeFiles, removeWithLeftovers } from '../../remove-files.js';
import { OUTPUTS } from '../../tools/shell/output-name.js';
import { KEPT_SCRIPTS } from '../compiled/keep-scripts.js';

/**
 * Removes the files that `hi` made outside the history: summaries, outputs, inputs, logs, the index, the compiled program. Other files in
 * these folders stay: they may be anyone's. Throws a `HiError` of code `history` that names what cannot be removed.
 */
export function purgeCaches(paths: Paths): void {
  for (const [folder, names] of [
    [paths.compressions, COMPRESSIONS],
    [paths.outputs, OUTPUTS],
    [paths.servers, LOGS],
    [paths.compiled, KEPT_SCRIPTS],
  ] as const) {
    removing(folder, () => removeFiles(folder, names));
    removeEmptyFolder(folder);
  }
  for (const path of [paths.inputHistory, paths.knownSkills, paths.knownModels, paths.warned, paths.log]) {
    removing(path, () => removeWithLeftovers(path));
  }
  removing(paths.index, () => removeIndex(paths.index));
  removeEmptyFolder(paths.cache);
}

function removing(path: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    throw new HiError('history', `Cleared the conversation, but cannot remove '${path}' (${code}).`, {
      hint: "Check its owner and mode with 'ls -ld', then run the command again.",
      cause,
    });
  }
}
