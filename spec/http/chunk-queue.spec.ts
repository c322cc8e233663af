import { Readable } from 'node:stream';
import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { chunkQueue } from '../../lib/http/body.js';

/** A stream that has brought all of this already, and then broke when there is an error. */
async function brought(chunks: readonly Buffer[], error: Error | null = null) {
  const source = new Readable({ read() {} });
  const next = chunkQueue(source);
  for (const chunk of chunks) source.push(chunk);
  await tick();
  if (error === null) source.push(null);
  else source.destroy(error);
  await tick();
  return next;
}

async function all(next: () => Promise<Uint8Array | null>): Promise<readonly number[]> {
  const sizes: number[] = [];
  for (let part = await next(); part !== null; part = await next()) sizes.push(part.length);
  return sizes;
}

describe('the chunk queue of a stream', () => {
  it('returns the waiting chunks in portions: small ones joined, large ones cut', async () => {
    const little = Array.from({ length: 300 }, () => Buffer.alloc(100));
    expect(await all(await brought(little))).toEqual([8100, 8100, 8100, 5700]);
    expect(await all(await brought([Buffer.alloc(20_000)]))).toEqual([8192, 8192, 3616]);
  });

  it('changes no byte, and reports the error after all of them', async () => {
    const words = Array.from({ length: 5000 }, (_, index) => `word ${index} `);
    const next = await brought(
      words.map((word) => Buffer.from(word)),
      new Error('cut'),
    );
    let text = '';
    const reading = async (): Promise<void> => {
      for (;;) text += Buffer.from((await next()) ?? []).toString();
    };
    await expect(reading()).rejects.toThrow('cut');
    expect(text).toBe(words.join(''));
  });

  it('pauses a stream that brings much more than is read', async () => {
    let brought = 0;
    const page = Buffer.alloc(10_000);
    const source = new Readable({
      read() {
        brought += page.length;
        this.push(page);
      },
    });
    const next = chunkQueue(source);
    await tick();
    for (let portions = 0; portions < 500; portions += 1) {
      expect((await next())?.length).toBeLessThanOrEqual(8192);
      await tick();
    }
    source.destroy();
    expect(brought).toBeGreaterThan(500 * 1808);
    expect(brought).toBeLessThan(500 * 8192 + 400_000);
  });
});
