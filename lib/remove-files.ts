import { lstatSync, readdirSync, rmdirSync, statSync, truncateSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemCode } from './errors.js';
import { namesWithLeftovers, processExists } from './write-aside.js';

/**
 * Removes the files in `folder` whose names match `pattern`, and nothing else. A link stays, and the file it leads to
 * is emptied. Does nothing when the folder does not exist. Throws the system's error.
 */
export function removeFiles(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) if (pattern.test(name)) removeFile(join(folder, name));
}

/** Removes a file, and what a kill left while it was being written, as `removeFiles` does. */
export function removeWithLeftovers(path: string): void {
  const name = basename(path).replace(/[^\w-]/g, '\\$&');
  removeFiles(dirname(path), namesWithLeftovers(name));
}

/**
 * Removes what processes that are gone left of files in `folder` whose names match `pattern`. Throws the system's
 * error.
 */
export function removeLeftovers(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) {
    const [leftover, pid] = /\.(\d+)\.new$/.exec(name) ?? [];
    if (leftover === undefined || !pattern.test(name.slice(0, -leftover.length)) || processExists(Number(pid)))
      continue;
    removeFile(join(folder, name));
  }
}

/** Removes a folder if it is empty. A link to a folder stays. */
export function removeEmptyFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch (thrown) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EACCES', 'EPERM'].includes(systemCode(thrown) ?? '')) {
      throw thrown;
    }
  }
}

/** The names in a folder; none when it does not exist. Throws the system's error. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(thrown) ?? '')) return [];
    throw thrown;
  }
}

/**
 * The names of the files in a folder and of the links to some, and not of folders, pipes or devices; none where there
 * is no folder. Throws what the system throws.
 */
export function fileNamesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((found) => found.isFile() || (found.isSymbolicLink() && leadsToFile(join(folder, found.name))))
      .map(({ name }) => name);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(thrown) ?? '')) return [];
    throw thrown;
  }
}

/** True for a regular file and for a link to one. */
export function leadsToFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function removeFile(path: string): void {
  try {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) truncateSync(path, 0);
    else if (found.isFile()) unlinkSync(path);
  } catch (thrown) {
    // Another process may have been faster, or the link leads nowhere or to a folder, which hi never makes there.
    if (!['ENOENT', 'EISDIR'].includes(systemCode(thrown) ?? '')) throw thrown;
  }
}
