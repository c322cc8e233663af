import { createHash } from 'node:crypto';
import type { CompressBlock } from '../chat/entry.js';
import type { TextCache } from '../chat/request.js';

/**
 * The cache for the summary that follows this block. After a block that undoes a compaction it finds no earlier reply, because the user did not want
 * that summary.
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
