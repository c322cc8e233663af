import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HiError, systemCode } from '../../errors.js';

/** Throws a `HiError` unless the folder can be written, or made where it is missing. */
export async function requireWritable(folder: string): Promise<void> {
  try {
    if (!(await stat(folder)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT' && dirname(folder) !== folder) return await requireWritable(dirname(folder));
    const what = code === 'ENOTDIR' ? 'is not a folder' : 'cannot be written';
    throw new HiError('config', `'${folder}' ${what} (${code ?? String(cause)}).`, {
      hint: 'Change its permissions, or choose others with HI_CONFIG_DIR, HI_DATA_DIR, HI_CACHE_DIR.',
      cause,
    });
  }
}
