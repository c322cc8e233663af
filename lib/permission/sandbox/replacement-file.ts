import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../disk.js';

/**
 * A file with this text, which commands see instead of another. Created once for each text, and named like saved
 * outputs, so that it is removed with them.
 */
export function replacementFile(folder: string, text: string): string {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 6);
  const path = join(folder, `1970-01-01T00-00-00-000Z-${text === '' ? '000000' : name}.stdout`);
  if (readOrNull(path) === text) return path;
  makeFolder(folder, 0o700);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function readOrNull(path: string): string | null {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
