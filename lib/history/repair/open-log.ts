import { closeSync, openSync } from 'node:fs';
import type { Entry } from '../../chat/message.js';
import { systemCode } from '../../errors.js';
import { requireRegularFile } from '../../regular-file.js';
import { readAt } from '../file/bytes.js';
import type { Codec } from '../file/codec.js';
import { Damaged, Unordered } from '../file/damaged.js';
import { BRACKET_SIZE, OPENING } from '../file/file-layout.js';
import { LogFile } from '../file/log-file.js';
import { ArrayFile } from './array-file.js';

/** An open history in either form, with what the view needs of it. */
export interface Opened {
  readonly file: LogFile | ArrayFile;
  readonly entries: readonly Entry[];
}

/**
 * Opens and loads the history at `path`, in hi's layout or as any array of entries. Throws what the system throws, and `Damaged`: without the lock
 * (`sure` false) another process may just be at work on what looks damaged.
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

/** Opens and loads what can be read of a damaged history. */
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

/** For writing; where that is not allowed, and nobody is `sure` to write, for reading. */
function openNative(codec: Codec, path: string, sure: boolean): LogFile {
  try {
    return LogFile.open(codec, path, 'r+');
  } catch (thrown) {
    const code = systemCode(thrown);
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw thrown;
    // A file of another layout is written anew, for which the folder's mode counts and not its own: it must be found damaged first.
    const file = LogFile.open(codec, path, 'r');
    if (!sure) return file;
    file.close();
    throw thrown;
  }
}

/** True for a file that may be of hi's layout, whatever follows. */
export function hasNativeOpening(path: string): boolean {
  requireRegularFile(path);
  const file = openSync(path, 'r');
  try {
    return readAt(file, 0, BRACKET_SIZE).equals(OPENING);
  } finally {
    closeSync(file);
  }
}
