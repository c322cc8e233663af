import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { privateReason } from './private-places.js';
import { lstatOrNull } from './resolve-path.js';

/** At most this many private files are compared. */
const MAX_FILES = 2000;

/**
 * Why a file with an ordinary name is private: it is a hard link to a private file in the home folder, in `root` or of hi's own. Null
 * where it is not.
 */
export async function hardLinkReason(path: string, root: string, ownPlaces: readonly string[]): Promise<string | null> {
  const linked = await privateHardLink(path, root, ownPlaces);
  return linked === null ? null : `it is the same file as ${linked}, which is private`;
}

async function privateHardLink(path: string, root: string, ownPlaces: readonly string[]): Promise<string | null> {
  const file = lstatOrNull(path);
  if (!file?.isFile() || file.nlink < 2) return null;
  let left = MAX_FILES;
  const find = async (place: string): Promise<string | null> => {
    left -= 1;
    if (left < 0) return null;
    const there = lstatOrNull(place);
    if (there?.ino === file.ino && there.dev === file.dev) return place;
    if (there?.isDirectory() !== true) return null;
    for (const name of await readdir(place).catch(() => [])) {
      const linked = await find(join(place, name));
      if (linked !== null) return linked;
    }
    return null;
  };
  for (const place of [...ownPlaces, ...(await privateIn(homedir())), ...(await privateIn(root))]) {
    const linked = await find(place);
    if (linked !== null) return linked;
  }
  return null;
}

async function privateIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const paths = names.map((name) => join(folder, name));
  return paths.filter((path) => privateReason({ absolute: path, real: path }, []) !== null);
}
