import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../folder.js';

/** The warnings that were not given before on this machine; they are remembered in the cache folder. Never fails: then a warning is given again. */
export async function notYetGiven(warnings: readonly string[], cacheFolder: string): Promise<readonly string[]> {
  if (warnings.length === 0) return [];
  const path = join(cacheFolder, 'warned.json');
  const given = await read(path);
  const fresh = warnings.filter((warning) => !given.includes(warning));
  if (fresh.length > 0) {
    try {
      makeFolder(cacheFolder, 0o700);
      await writeFile(path, JSON.stringify([...given, ...fresh]), { mode: 0o600 });
    } catch {
      return fresh;
    }
  }
  return fresh;
}

async function read(path: string): Promise<readonly string[]> {
  try {
    const stored: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
