import { HiError, systemCode } from '../../errors.js';

/** Runs `work`; what the system throws becomes a `HiError` that names the path. */
export async function withHistoryErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw asHistoryError(thrown, path);
  }
}

/** A failed file operation as a `HiError` that names the path and the remedy; anything else is returned as it is. */
export function asHistoryError(thrown: unknown, path: string): unknown {
  const code = systemCode(thrown);
  if (code === null) return thrown;
  const [happened, hint] = notAFile(thrown, code) ?? explained(code, path);
  return new HiError('history', happened ?? `The history '${path}' cannot be used (${code}).`, { hint, cause: thrown });
}

/** What lies where hi keeps a file of its own is named itself: it need not be the history. */
function notAFile(thrown: unknown, code: string): readonly [happened: string, hint: string] | null {
  const what = code === 'EISDIR' ? 'folder' : code === 'EFTYPE' ? 'pipe or a device' : null;
  if (what === null || typeof thrown !== 'object' || thrown === null || !('path' in thrown)) return null;
  return [`'${thrown.path}' is a ${what}, not a file.`, `Move it away and start again.`];
}

function explained(code: string, path: string): readonly [happened: string | null, hint: string] {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return [
        `The disk is full: the history '${path}' could not take what was said last.`,
        'Free some space and send it again; everything before it is safe.',
      ];
    case 'EFBIG':
      return [
        `The history '${path}' may not grow: a limit on the size of files is in the way.`,
        'Raise it (ulimit -f) and send it again; everything before it is safe.',
      ];
    case 'EROFS':
      return [
        `The history '${path}' is on a read-only file system.`,
        'Set HI_DATA_DIR to a folder you can write, or use --ephemeral to keep nothing.',
      ];
    case 'EACCES':
    case 'EPERM':
      return [
        `No permission for the history '${path}'.`,
        'Look at its owner and mode (ls -ld), set HI_DATA_DIR to a folder of yours, or use --ephemeral to keep nothing.',
      ];
    case 'ENOTDIR':
      return [
        `Part of the path of the history '${path}' is a file, not a folder.`,
        'Move that file away, or set HI_DATA_DIR.',
      ];
    default:
      return [null, 'Check the folder and the disk it is on, or set HI_DATA_DIR to another folder.'];
  }
}
