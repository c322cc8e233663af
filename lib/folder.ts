import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents; an existing one stays as it is. Throws the system's error. Node's own
 * `recursive` never ends where the system reports ENOENT inside an existing folder, as `/proc` and automounters do.
 */
export function makeFolder(path: string, mode: number): void {
  const failure = tryToMake(path, mode);
  if (failure === null) return;
  const parent = dirname(path);
  if (!isMissing(failure) || parent === path) throw failure;
  makeFolder(parent, mode);
  const again = tryToMake(path, mode);
  if (again !== null) throw again;
}

/** Returns the error, or null when the folder exists afterwards. */
function tryToMake(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return null;
  } catch (thrown) {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? null : thrown;
  }
}

function isMissing(failure: unknown): boolean {
  return typeof failure === 'object' && failure !== null && 'code' in failure && failure.code === 'ENOENT';
}
