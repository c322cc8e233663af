import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ImageLimits } from '../../../lib/chat/model.js';
import { smallImage } from '../../../lib/session/images/small-image.js';
import { memoryCache } from '../../support/compaction.js';
import { png } from '../../support/pictures.js';

const LIMITS: ImageLimits = { side: 100, used: 100, bytes: 1_000_000, request: 10_000_000 };
const signal = new AbortController().signal;
const LARGE = png(300, 30);

let made = 0;
// Threads run what is built; here the same work is done in this one.
jest.unstable_mockModule('../../../lib/session/images/small-image-aside.js', () => ({
  smallImageAside: async (...[bytes, limits]: Parameters<typeof smallImage>) => {
    made += 1;
    return smallImage(bytes, limits);
  },
}));

let cachedSmallImage: typeof import('../../../lib/session/images/images.js').cachedSmallImage;
beforeAll(async () => {
  ({ cachedSmallImage } = await import('../../../lib/session/images/images.js'));
});

describe('a smaller picture', () => {
  it('is computed once, and found again by every later process', async () => {
    const cache = memoryCache();
    made = 0;
    const first = await cachedSmallImage(LARGE, LIMITS, 'key', cache, signal);
    const again = await cachedSmallImage(LARGE, LIMITS, 'key', cache, signal);
    expect(first).toMatchObject({ width: 100, height: 10, mime: expect.stringMatching(/^image\//) });
    expect({ ...again, bytes: Buffer.from(again?.bytes ?? []) }).toEqual({
      ...first,
      bytes: Buffer.from(first?.bytes ?? []),
    });
    expect([made, [...cache.stored.keys()]]).toEqual([1, [expect.stringMatching(/^[0-9a-f]{64}$/)]]);
    await cachedSmallImage(LARGE, LIMITS, 'other', cache, signal);
    expect([made, cache.stored.size]).toEqual([2, 2]);
  });

  it('is computed again if what is stored is not a picture', async () => {
    const cache = memoryCache();
    const image = { mime: 'image/png', width: 1, height: 1, data: '' };
    await cachedSmallImage(LARGE, LIMITS, 'key', cache, signal);
    const [key = ''] = cache.stored.keys();
    for (const text of [
      '',
      'nonsense',
      '[]',
      'null',
      ...Object.keys(image).map((name) => JSON.stringify({ ...image, [name]: null })),
    ]) {
      cache.stored.set(key, text);
      made = 0;
      expect(await cachedSmallImage(LARGE, LIMITS, 'key', cache, signal)).toMatchObject({ width: 100 });
      expect(made).toBe(1);
    }
    cache.stored.set(key, JSON.stringify(image));
    expect(await cachedSmallImage(LARGE, LIMITS, 'key', cache, signal)).toMatchObject({ width: 1, height: 1 });
  });

  it('that cannot be computed is not stored, and neither is any if nothing may be written', async () => {
    const cache = memoryCache();
    expect(await cachedSmallImage(Buffer.from('no picture'), LIMITS, 'key', cache, signal)).toBeNull();
    expect(cache.stored.size).toBe(0);
    expect(await cachedSmallImage(LARGE, LIMITS, 'key', null, signal)).toMatchObject({ width: 100 });
  });
});
