import { describe, expect, it } from '@jest/globals';
import type { CompressBlock } from '../../lib/chat/entry.js';
import { asTokens } from '../../lib/chat/request.js';
import { cacheAfter } from '../../lib/compaction/cache.js';
import { memoryCache } from '../support/compaction.js';

const block = (id: number, restores?: number): CompressBlock => ({
  ...{
    type: 'compress',
    id,
    at: '2026-11-23T10:00:00Z',
    content: '',
    strategy: 's',
    source: 'model',
    first_kept: null,
  },
  ...{ messages_compacted: 0, messages_kept: 0, tokens_before: asTokens(0), tokens_after: asTokens(0) },
  ...(restores !== undefined && { restores }),
});
const KEY = 'a'.repeat(64);

describe('the cached replies of a summary', () => {
  it('are found after a compaction, but not after one was taken back', async () => {
    const cache = memoryCache();
    await cacheAfter(cache, null).put(KEY, 'first');
    expect(await cacheAfter(cache, block(5)).get(KEY)).toBe('first');
    expect(await cacheAfter(cache, block(6, 0)).get(KEY)).toBeNull();
  });

  it('are found again by the pass that resumes the work, until the next compaction is taken back', async () => {
    const cache = memoryCache();
    await cacheAfter(cache, block(6, 0)).put(KEY, 'second');
    expect(await cacheAfter(cache, block(6, 0)).get(KEY)).toBe('second');
    expect(await cacheAfter(cache, block(9, 0)).get(KEY)).toBeNull();
    expect([...cache.stored.keys()].every((key) => /^[0-9a-f]{64}$/.test(key))).toBe(true);
  });
});
