import { mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileCache } from '../../lib/compaction/cache.js';

const freshFolder = async (): Promise<string> => join(await mkdtemp(join(tmpdir(), 'hi-cache-')), 'cache');

describe('the compression cache', () => {
  it('gives back what was stored, also after a restart', async () => {
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

  it('lets go of what was used longest ago', async () => {
    const folder = await freshFolder();
    const cache = fileCache(folder);
    for (let key = 0; key < 256; key++) {
      await cache.put(`key${key}`, 'text');
      await utimes(join(folder, `key${key}.json`), key + 1, key + 1);
    }
    await cache.get('key0');
    await cache.put('new', 'text');
    expect((await readdir(folder)).length).toBe(256);
    expect([await cache.get('key0'), await cache.get('key1')]).toEqual(['text', null]);
  });

  it('works without a folder it may write to', async () => {
    const folder = await freshFolder();
    await writeFile(folder, 'a file in the way');
    const cache = fileCache(folder);
    await cache.put('key', 'text');
    expect(await cache.get('key')).toBeNull();
  });
});
