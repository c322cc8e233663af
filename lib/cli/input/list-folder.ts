import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { textBlock } from '../../chat/text/text-block.js';
import { HiError, systemReason } from '../../errors.js';

/** More names than this help no model. It gets the total instead. */
const MAX_NAMES = 1000;

/** The names in a folder, as the model reads them. */
export interface FolderListing {
  readonly text: string;
  readonly entries: number;
}

/** The names in a folder, hidden ones too, folders with a final `/`; null for a path that is not a folder or may not be read. Throws a `HiError` of code `usage` when the folder cannot be listed. */
export async function listFolder(path: string, cwd: string): Promise<FolderListing | null> {
  const place = resolve(cwd, path);
  const stats = await stat(place).catch(() => null);
  if (!stats?.isDirectory()) return null;
  try {
    const found = await readdir(place, { withFileTypes: true });
    const names = found.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
    const lines =
      names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `(and ${names.length - MAX_NAMES} more)`] : names;
    return { text: textBlock('folder', { name: path }, lines.join('\n')), entries: names.length };
  } catch (cause) {
    throw new HiError('usage', `Cannot list '${path}': ${systemReason(cause)}.`, {
      hint: "Check its permissions with 'ls -ld'. Nothing was sent.",
      cause,
    });
  }
}
