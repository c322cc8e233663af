import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Where relative paths and `~` begin. */
export interface PathBase {
  readonly cwd: string;
  readonly home: string;
}

/** A path that a typed one may become. */
export interface PathCandidate {
  /** As it is typed on, without a slash at its end. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** The files and folders whose path begins with `typed`, by name; hidden ones only where a dot was typed. A folder that cannot be read has none. */
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
