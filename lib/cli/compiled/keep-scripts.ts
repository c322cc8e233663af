import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileNamesIn, makeFolder, namesWithLeftovers, writeAside } from '../../disk.js';
import type { LoadedScript } from './scripts.js';

/**
 * Files older than this are removed, in milliseconds: most belong to other versions of hi or Node. A version still in
 * use writes its files again.
 */
const OUTDATED = 30 * 24 * 3600 * 1000;

/** The names that `scripts.ts` gives, and those of files left over when a write was killed. */
export const KEPT_SCRIPTS = namesWithLeftovers('[a-z-]+-[0-9a-f]{16}-v\\d+\\.\\d+\\.\\d+-[a-z0-9]+');

/**
 * Stores the compiled form of scripts, including the functions that were called. Never throws: without it the next
 * start is only slower.
 */
export function keepScripts(scripts: readonly LoadedScript[], now: number): void {
  try {
    for (const { script, path } of scripts) {
      makeFolder(dirname(path), 0o700);
      const compiled = script.createCachedData();
      writeAside(path, Buffer.concat([compiled, compiled]), { mode: 0o600, private: true, synced: true });
    }
    for (const folder of new Set(scripts.map(({ path }) => dirname(path)))) removeOutdated(folder, now);
  } catch {
    return;
  }
}

function removeOutdated(folder: string, now: number): void {
  for (const name of fileNamesIn(folder).filter((name) => KEPT_SCRIPTS.test(name))) {
    const path = join(folder, name);
    if (now - statSync(path).mtimeMs > OUTDATED) rmSync(path, { force: true });
  }
}
