import { constants } from 'node:fs';
import { access, lstat, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HiError, systemCode } from '../../errors.js';
import { makeFolder } from '../../folder.js';
import { identityOf, type JudgedPlace } from '../../permission/paths/judged-place.js';
import { changed, openFolderOf } from './open-judged.js';

/**
 * Replaces a file atomically, by writing a temporary file and renaming it. Creates parent folders and keeps the mode of an existing file.
 * Throws a `HiError` with the reason on failure, also if another file was put in its place since it was judged.
 * Resolves to whether the file is new.
 */
export async function replaceFile(place: JudgedPlace, content: string | Uint8Array): Promise<boolean> {
  const before = await existing(place.path);
  try {
    makeFolder(dirname(place.path), 0o777);
    const { folder, path } = await openFolderOf(place);
    try {
      await putInPlace(place, path, content, before);
    } finally {
      await folder.close();
    }
  } catch (failure) {
    throw explain(failure, place.path);
  }
  return before === null;
}

async function putInPlace(
  place: JudgedPlace,
  path: string,
  content: string | Uint8Array,
  mode: number | null,
): Promise<void> {
  // Not `writeAside`: it would follow a link at the permitted path, and overwrite a file with its temporary name.
  const aside = join(dirname(path), `.${basename(path).slice(0, 100)}.${process.pid}-${Date.now()}.hi`);
  try {
    const file = await open(aside, 'wx', mode ?? 0o666);
    try {
      await file.writeFile(content);
      // `open` applies the umask to the mode.
      if (mode !== null) await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    const now = await lstat(path, { bigint: true }).catch(() => null);
    if ((now === null ? null : identityOf(now)) !== place.file) throw changed(place);
    await rename(aside, path);
  } catch (failure) {
    await unlink(aside).catch(() => {});
    throw failure;
  }
}

/** The mode of the existing file, or null. */
async function existing(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new HiError('usage', `'${path}' is a folder.`);
    if (!found.isFile()) throw new HiError('usage', `'${path}' is not a regular file.`);
    // A rename would bypass the write protection of the file.
    await access(path, constants.W_OK);
    return found.mode & 0o7777;
  } catch (failure) {
    if (systemCode(failure) === 'ENOENT' || systemCode(failure) === 'ENOTDIR') return null;
    throw failure instanceof HiError ? failure : explain(failure, path);
  }
}

function explain(failure: unknown, path: string): unknown {
  const why = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is exceeded',
    ENOTDIR: 'one of its parent folders is a file',
    EEXIST: 'one of its parent folders is a file',
    ENAMETOOLONG: 'its name is too long',
  }[systemCode(failure) ?? ''];
  return why === undefined ? failure : new HiError('usage', `Cannot write '${path}': ${why}.`, { cause: failure });
}
