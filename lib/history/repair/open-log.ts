import { closeSync, openSync } from 'node:fs';
import type { Entry } from '../../chat/entry.js';
import { systemCode } from '../../errors.js';
import { requireRegularFile } from '../../regular-file.js';
import { BRACKET_SIZE, OPENING } from '../file/file-layout.js';
import { readAt } from '../file/frames/bytes.js';
import type { Codec } from '../file/frames/codec.js';
import { Damaged, Unordered } from '../file/frames/damaged.js';
import { LogFile } from '../file/log-file.js';
import { ArrayFile } from './array-file.js';

/** An open history in either layout, with the entries that the view needs. */
export interface Opened {
  readonly file: LogFile | ArrayFile;
  readonly entries: readonly Entry[];
}

/**
 * Opens and loads the history at `path`, in hi's layout or as any array of entries. Throws system errors and `Damaged`: without the lock
 * (`exclusive` false) a file that looks damaged may be in the middle of a write.
 */
export function openLog(codec: Codec, path: string, sure: boolean): Opened {
  try {
    return loaded(openNative(codec, path, sure));
  } catch (thrown) {
    if (!(thrown instanceof Damaged) || (!sure && hasNativeOpening(path))) throw thrown;
    return openArray(codec, path);
  }
}

function openArray(codec: Codec, path: string): Opened {
  try {
    return loaded(ArrayFile.open(codec, path, false));
  } catch (thrown) {
    if (!(thrown instanceof Unordered)) throw thrown;
    return openDamaged(codec, path);
  }
}

/** Opens a damaged history and loads what can be recovered. */
export function openDamaged(codec: Codec, path: string): Opened {
  return loaded(ArrayFile.open(codec, path, true));
}

function loaded(file: LogFile | ArrayFile): Opened {
  try {
    return { file, entries: file.load() };
  } catch (thrown) {
    file.close();
    throw thrown;
  }
}

/** Opens for writing, or for reading if writing is neither allowed nor required (`exclusive`). */
function openNative(codec: Codec, path: string, sure: boolean): LogFile {
  try {
    return LogFile.open(codec, path, 'r+');
  } catch (thrown) {
    const code = systemCode(thrown);
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw thrown;
    // A file in another layout will be replaced, which needs write access to the folder only; reading it here throws `Damaged` first.
    const file = LogFile.open(codec, path, 'r');
    if (!sure) return file;
    file.close();
    throw thrown;
  }
}

/** True for a file that begins in hi's layout. */
export function hasNativeOpening(path: string): boolean {
  requireRegularFile(path);
  const file = openSync(path, 'r');
  try {
    return readAt(file, 0, BRACKET_SIZE).equals(OPENING);
  } finally {
    closeSync(file);
  }
}

/** Whether the whole history at `path` can be read. Only under the lock. Throws system errors. */
export function isIntact(codec: Codec, path: string): boolean {
  try {
    const { file } = openLog(codec, path, true);
    try {
      if (file instanceof ArrayFile && file.isDamaged) return false;
      for (const _ of file.all('Checking the history'));
      return true;
    } finally {
      file.close();
    }
  } catch (thrown) {
    if (thrown instanceof Damaged) return false;
    throw thrown;
  }
}
