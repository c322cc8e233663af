import { readFileSync, statSync } from 'node:fs';

/** The file is not a regular file. Has the fields of a system error. */
class NotRegularFile extends Error {
  readonly syscall = 'open';
  readonly code: string;
  readonly path: string;

  constructor(path: string, code: 'EISDIR' | 'EFTYPE') {
    super(`${code}: not a regular file, open '${path}'`);
    this.code = code;
    this.path = path;
  }
}

/**
 * Throws where something lies at `path` that is neither a regular file nor a link to one: to open a pipe or a device
 * may act on it, or take for ever. The error is one of the system's: EISDIR for a folder, EFTYPE for anything else.
 */
export function requireRegularFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new NotRegularFile(path, found.isDirectory() ? 'EISDIR' : 'EFTYPE');
}

/** The bytes of a regular file. Throws what the system throws, and for anything else what `requireRegularFile` does. */
export function readRegularFile(path: string): Buffer {
  requireRegularFile(path);
  return readFileSync(path);
}
