import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from './errors.js';

/**
 * Makes a folder and those above it that are missing; one that is there stays as it is. Throws what the system throws.
 * Node's own `recursive` never ends where the system says ENOENT in a folder that is there, as `/proc` and automounters do.
 */
export function makeFolder(path: string, mode: number): void {
  const failure = failureToMake(path, mode);
  if (failure === null) return;
  const above = dirname(path);
  if (systemCode(failure) !== 'ENOENT' || above === path) throw failure;
  makeFolder(above, mode);
  const again = failureToMake(path, mode);
  if (again !== null) throw again;
}

/** Null when the folder is there afterwards. */
function failureToMake(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return null;
  } catch (thrown) {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? null : thrown;
  }
}
