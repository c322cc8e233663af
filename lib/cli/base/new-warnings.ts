import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../folder.js';
import { readRegularFile, requireRegularFile } from '../../regular-file.js';

/** The warnings that were not given before on this machine; they are remembered in the file at `path`. Never fails: then a warning is given again. */
export async function newWarnings(warnings: readonly string[], path: string): Promise<readonly string[]> {
  if (warnings.length === 0) return [];
  const given = read(path);
  const fresh = warnings.filter((warning) => !given.includes(warning));
  if (fresh.length > 0) {
    try {
      makeFolder(dirname(path), 0o700);
      requireRegularFile(path);
      await writeFile(path, JSON.stringify([...given, ...fresh]), { mode: 0o600 });
    } catch {
      return fresh;
    }
  }
  return fresh;
}

function read(path: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(readRegularFile(path).toString());
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
