import { dirname } from 'node:path';
import { makeFolder } from '../../folder.js';
import { AsideFile } from '../../write-aside.js';
import type { Archive } from '../index/archive.js';

/**
 * Writes a file of the index that `write` derives from the archive, aside, and renames it. False, and nothing is left, if the conversation has changed: `write`
 * may take long, so it does not hold the lock, but the file is created and renamed under it. What removes messages under the lock removes the unfinished
 * file as well, and no later one has their words. Throws system errors and a `HiError`.
 */
export async function writeIndexFile(
  path: string,
  archive: Pick<Archive, 'ifCurrent'>,
  write: (file: number) => void,
): Promise<boolean> {
  const made: AsideFile[] = [];
  const open = (): void => {
    makeFolder(dirname(path), 0o700);
    made.push(new AsideFile(path, { mode: 0o600 }));
  };
  try {
    if (!(await archive.ifCurrent(open))) return false;
    for (const { descriptor } of made.slice(-1)) write(descriptor);
    // Not flushed: a file damaged by a power cut will be detected and rebuilt.
    return await archive.ifCurrent(() => made.at(-1)?.commit(false));
  } finally {
    for (const aside of made) aside.discard();
  }
}
