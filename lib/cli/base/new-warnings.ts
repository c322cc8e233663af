import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../folder.js';
import { readRegularFile, requireRegularFile } from '../../regular-file.js';
import { plainHttpWarnings } from './plain-http.js';
import type { Settings } from './settings.js';

/** The warnings about the settings that were not shown on this machine before. */
export async function newSettingsWarnings({ warnings, config, paths }: Settings): Promise<readonly string[]> {
  return await newWarnings([...warnings, ...(config === null ? [] : plainHttpWarnings(config))], paths.warned);
}

/** The warnings that were not shown on this machine before; the file at `path` remembers them. Never fails: at worst a warning is shown again. */
export async function newWarnings(warnings: readonly string[], path: string): Promise<readonly string[]> {
  if (warnings.length === 0) return [];
  const shown = read(path);
  const fresh = warnings.filter((warning) => !shown.includes(warning));
  if (fresh.length > 0) {
    try {
      makeFolder(dirname(path), 0o700);
      requireRegularFile(path);
      await writeFile(path, JSON.stringify([...shown, ...fresh]), { mode: 0o600 });
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
