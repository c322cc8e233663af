import { constants } from 'node:fs';
import { access, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HiError, systemCode } from '../errors.js';
import { makeFolder } from '../folder.js';

/**
 * Writes a file aside and renames it into place, so that nobody ever sees half of it; parent folders are created, the mode of an
 * existing file is kept. `path` must be real: a link in its place would be replaced. Throws a `HiError` saying why it cannot.
 * Resolves to whether the file is new.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<boolean> {
  const before = await existing(path);
  // Not `writeAside`: it would follow a link put in place of the path that was permitted, and replace a file of the user's that bears its temporary name.
  const aside = join(dirname(path), `.${basename(path).slice(0, 100)}.${process.pid}-${Date.now()}.hi`);
  try {
    makeFolder(dirname(path), 0o777);
    const file = await open(aside, 'wx', before ?? 0o666);
    try {
      await file.writeFile(content);
      // The mode given to open is narrowed by the umask.
      if (before !== null) await file.chmod(before);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (failure) {
    await unlink(aside).catch(() => {});
    throw explain(failure, path);
  }
  return before === null;
}

/** The mode of the file that is there, or null when there is none. */
async function existing(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new HiError('usage', `'${path}' is a folder.`);
    if (!found.isFile()) throw new HiError('usage', `'${path}' is not a regular file.`);
    // A rename would pass by the protection of a read-only file.
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
