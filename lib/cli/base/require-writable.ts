import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HiError, systemCode } from '../../errors.js';

/** Throws a `HiError` of code `config` unless the folder can be written to, or created where it is missing. */
export async function requireWritable(folder: string): Promise<void> {
  try {
    if (!(await stat(folder)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT' && dirname(folder) !== folder) return await requireWritable(dirname(folder));
    const message =
      code === 'ENOTDIR' ? `'${folder}' is not a folder.` : `Cannot write to '${folder}' (${code ?? String(cause)}).`;
    throw new HiError('config', message, {
      hint: 'Change its permissions, or set HI_CONFIG_DIR, HI_DATA_DIR or HI_CACHE_DIR to another folder.',
      cause,
    });
  }
}
