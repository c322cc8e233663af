import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompressBlock } from '../chat/entry.js';
import { isJsonObject } from '../chat/json.js';
import type { TextCache } from '../chat/request.js';
import { makeFolder, namesWithLeftovers, requireRegularFile, writeAside } from '../disk.js';

/** The size of the cache. The least recently used results are removed first. */
const LIMIT = 256;

/** Matches exactly the file names of a `fileCache`. */
export const COMPRESSIONS = namesWithLeftovers('[0-9a-f]{64}(?:\\.json)?');

/**
 * Results of compressions, one file each under `folder`, named by their content hash, the SHA-256 in hexadecimal. The
 * folder is created by the first write. An unreadable or damaged file counts as missing, and a failed write is ignored:
 * the result can be computed again.
 */
export function fileCache(folder: string): TextCache {
  const pathOf = (key: string) => join(folder, `${key}.json`);
  return {
    async get(key) {
      const text = await read(pathOf(key), key).catch(() => null);
      // The modification time is the time of the last use.
      if (text !== null) await utimes(pathOf(key), new Date(), new Date()).catch(() => undefined);
      return text;
    },
    async put(key, text) {
      try {
        makeFolder(folder, 0o700);
        writeAside(pathOf(key), JSON.stringify({ key, text }), { mode: 0o600, synced: false });
        await forgetOldest(folder);
      } catch {
        return;
      }
    },
  };
}

async function read(path: string, key: string): Promise<string | null> {
  requireRegularFile(path);
  const stored: unknown = JSON.parse(await readFile(path, 'utf8'));
  return isJsonObject(stored) && stored.key === key && typeof stored.text === 'string' ? stored.text : null;
}

async function forgetOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => COMPRESSIONS.test(name));
  if (names.length <= LIMIT) return;
  const files = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), used: (await stat(join(folder, name))).mtimeMs })),
  );
  const oldest = files.sort((one, other) => one.used - other.used).slice(0, names.length - LIMIT);
  await Promise.all(oldest.map(({ path }) => rm(path, { force: true })));
}

/**
 * The cache for the summary that follows this block. After a block that undoes a compaction it finds no earlier reply,
 * because the user did not want that summary.
 */
export function cacheAfter(cache: TextCache, block: CompressBlock | null): TextCache {
  if (block?.restores === undefined) return cache;
  const since = `${block.id} ${block.at}`;
  const keyOf = (key: string): string => createHash('sha256').update(`${since} ${key}`).digest('hex');
  return {
    get: async (key) => await cache.get(keyOf(key)),
    put: async (key, text) => await cache.put(keyOf(key), text),
  };
}
