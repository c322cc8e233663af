import { constants, readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { HiError, systemCode } from '../../errors.js';
import { identityOf, type JudgedPlace } from '../../permission/paths/resolve-path.js';

/**
 * Opens the file or folder that was judged, without following links, and makes sure it is the same one: by device and
 * inode, and on Linux by the path of the open file. Throws a `HiError` if another one took its place, and system
 * errors.
 */
export async function openJudged(place: JudgedPlace, flags: number): Promise<FileHandle> {
  const file = await open(place.path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((failure) => {
    throw systemCode(failure) === 'ELOOP' ? changed(place) : failure;
  });
  try {
    const found = identityOf(await file.stat({ bigint: true }));
    if ((place.file !== null && found !== place.file) || !liesAt(file, place.path)) throw changed(place);
    return file;
  } catch (failure) {
    await file.close();
    throw failure;
  }
}

/**
 * Opens the folder of a place. The returned path leads into it even if a link replaces a part of its path. Throws like
 * `openJudged`.
 */
export async function openFolderOf(
  place: JudgedPlace,
): Promise<{ readonly folder: FileHandle; readonly path: string }> {
  const above = dirname(place.path);
  const folder = await openJudged(
    { path: above, file: null, content: null },
    constants.O_RDONLY | constants.O_DIRECTORY,
  );
  return {
    folder,
    path: `${process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : above}/${basename(place.path)}`,
  };
}

/** The error for a place that is no longer what was judged. */
export function changed({ path }: JudgedPlace): HiError {
  return new HiError('usage', `'${path}' was replaced while the call was being decided. Nothing was done; try again.`);
}

function liesAt(file: FileHandle, path: string): boolean {
  if (process.platform !== 'linux') return true;
  try {
    return readlinkSync(`/proc/self/fd/${file.fd}`) === path;
  } catch {
    // Without /proc, the inode must be enough.
    return true;
  }
}
