import { mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileCache } from '../../lib/compaction/cache.js';

const freshFolder = async (): Promise<string> => join(await mkdtemp(join(tmpdir(), 'hi-cache-')), 'cache');

describe('the compression cache', () => {
  it('returns what was stored, also after a restart', async () => {
    const folder = await freshFolder();
    await fileCache(folder).put('key', 'text ✓');
    expect(await fileCache(folder).get('key')).toBe('text ✓');
    expect(await fileCache(folder).get('other')).toBeNull();
  });

  it('ignores a damaged file', async () => {
    const folder = await freshFolder();
    const cache = fileCache(folder);
    await cache.put('key', 'text');
    for (const damage of ['', '{"key":"key","te', '{"key":"other","text":"text"}', '[]']) {
      await writeFile(join(folder, 'key.json'), damage);
      expect(await cache.get('key')).toBeNull();
    }
  });

  it('evicts the least recently used entries, and only files that it created', async () => {
    const folder = await freshFolder();
    const cache = fileCache(folder);
    const name = (key: number) => `${key}`.padStart(64, '0');
    for (let key = 0; key < 256; key++) {
      await cache.put(name(key), 'text');
      await utimes(join(folder, `${name(key)}.json`), key + 2, key + 2);
    }
    await writeFile(join(folder, 'mine.json'), 'old');
    await utimes(join(folder, 'mine.json'), 1, 1);
    await cache.get(name(0));
    await cache.put(name(256), 'text');
    expect((await readdir(folder)).length).toBe(257);
    expect(await readdir(folder)).toContain('mine.json');
    expect([await cache.get(name(0)), await cache.get(name(1))]).toEqual(['text', null]);
  });

  it('works without a writable folder', async () => {
    const folder = await freshFolder();
    await writeFile(folder, 'a file in the way');
    const cache = fileCache(folder);
    await cache.put('key', 'text');
    expect(await cache.get('key')).toBeNull();
  });
});
