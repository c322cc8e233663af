import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The folders that relative paths and `~` refer to. */
export interface PathBase {
  readonly cwd: string;
  readonly home: string;
}

/** A possible completion of a typed path. */
export interface PathCandidate {
  /** Starts with the typed text; has no trailing slash. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** The files and folders whose path starts with `typed`, sorted; hidden ones only after a dot. Empty if the folder cannot be read. */
export async function pathsThatBegin(typed: string, { cwd, home }: PathBase): Promise<readonly PathCandidate[]> {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  const where = resolve(cwd, folder.startsWith('~/') ? join(home, folder.slice(2)) : folder);
  const found = await readdir(where, { withFileTypes: true }).catch(() => []);
  const rest = typed.slice(folder.length);
  return found
    .filter(({ name }) => name.startsWith(rest) && (rest !== '' || !name.startsWith('.')))
    .map((entry) => ({ path: folder + entry.name, isFolder: entry.isDirectory() }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}
