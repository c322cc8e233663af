import { closeSync, fstatSync, futimesSync, openSync, type Stats, statSync, writeSync } from 'node:fs';
import { systemCode } from '../../errors.js';

/** Changes the fingerprint of an open file. The time that it sets has no meaning. */
export function touch(file: number): void {
  const now = Date.now() / 1000;
  try {
    futimesSync(file, now, now);
  } catch {
    appendByte(file);
  }
}

/** Changes whenever the owner of the file touches it; null when the file is gone. */
export function fingerprintOf(path: string): string | null {
  const found = statsAt(path);
  return found && `${found.ino}:${found.size}:${found.mtimeMs}`;
}

/** Some network file systems do not allow a time to be set. */
function appendByte(file: number): void {
  try {
    writeSync(file, '.');
  } catch {
    // Other processes will consider this one dead after a while, and it will notice.
  }
}

function statsAt(path: string): Stats | null {
  try {
    // NFS asks its server again on open; the answer of `stat` may be a minute old.
    const file = openSync(path, 'r');
    try {
      return fstatSync(file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    return systemCode(thrown) === 'ENOENT' ? null : (statSync(path, { throwIfNoEntry: false }) ?? null);
  }
}
