import { closeSync, fstatSync, futimesSync, openSync, type Stats, statSync, writeSync } from 'node:fs';
import { systemCode } from '../../errors.js';

/** Changes the print of an open file. What the time in it says is of no account. */
export function touch(file: number): void {
  const now = Date.now() / 1000;
  try {
    futimesSync(file, now, now);
  } catch {
    appendByte(file);
  }
}

/** What changes when the owner of a file renews it; null when the file is gone. */
export function fingerprintOf(path: string): string | null {
  const found = statsAt(path);
  return found && `${found.ino}:${found.size}:${found.mtimeMs}`;
}

/** Not every network file system lets a time be set. */
function appendByte(file: number): void {
  try {
    writeSync(file, '.');
  } catch {
    // Who cannot show that it lives is taken for dead some time, and finds out.
  }
}

function statsAt(path: string): Stats | null {
  try {
    // NFS asks its server anew when a file is opened; what `stat` says may be a minute old.
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
