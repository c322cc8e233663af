import { lstatSync, readdirSync, rmdirSync, truncateSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemCode } from './errors.js';
import { namesWithAsides } from './write-aside.js';

/**
 * Removes the files in `folder` whose names `pattern` matches, and nothing else that lies there. A link stays, and the file it leads to is emptied.
 * Nothing is removed where there is no folder. Throws what the system throws.
 */
export function removeFiles(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) if (pattern.test(name)) removeFile(join(folder, name));
}

/** Removes a file and what a kill left of it while it was written, as `removeFiles` does. */
export function removeWithAsides(path: string): void {
  const name = basename(path).replace(/[^\w-]/g, '\\$&');
  removeFiles(dirname(path), namesWithAsides(name));
}

/** Removes a folder in which nothing lies any more; any other, and a link to one, stays. */
export function removeEmptyFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch (thrown) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EACCES', 'EPERM'].includes(systemCode(thrown) ?? '')) {
      throw thrown;
    }
  }
}

/** The names of what lies in a folder; none where there is no folder. Throws what the system throws. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(thrown) ?? '')) return [];
    throw thrown;
  }
}

function removeFile(path: string): void {
  try {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) truncateSync(path, 0);
    else if (!found.isDirectory()) unlinkSync(path);
  } catch (thrown) {
    // Another process may have been faster, or the link leads to nothing, or to a folder, which hi never makes there.
    if (!['ENOENT', 'EISDIR'].includes(systemCode(thrown) ?? '')) throw thrown;
  }
}
