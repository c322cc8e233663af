import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DirectStream } from '../../../lib/cli/executable/run-executable.js';

/** A reader that takes bytes only when it is told to, and what it has taken. */
function lateReader() {
  let taken = '';
  const waiting: { bytes: Uint8Array; resolve(): void; reject(error: Error): void }[] = [];
  return {
    taken: () => taken,
    take: (bytes: Uint8Array) => new Promise<void>((resolve, reject) => void waiting.push({ bytes, resolve, reject })),
    async read() {
      const next = waiting.shift();
      taken += Buffer.from(next?.bytes ?? []).toString();
      next?.resolve();
      await turn();
    },
    fail(error: Error) {
      waiting.shift()?.reject(error);
    },
  };
}

describe('a stream without those of Node', () => {
  it('writes texts in order, whether the reader takes them at once or late', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.string(), fc.boolean())), async (texts) => {
        let taken = '';
        let [late, ...rest] = texts.map(([, isLate]) => isLate);
        const stream = new DirectStream((bytes) => {
          const isLate = late;
          [late, ...rest] = rest;
          const take = (): void => {
            taken += Buffer.from(bytes).toString();
          };
          return isLate ? turn().then(take) : void take();
        });
        const done: number[] = [];
        await Promise.all(
          texts.map(
            ([text], place) => new Promise<void>((resolve) => stream.write(text, () => resolve(void done.push(place)))),
          ),
        );
        expect(taken).toBe(texts.map(([text]) => Buffer.from(text).toString()).join(''));
        expect(done).toEqual(texts.map((_text, place) => place));
        expect(stream.writableLength).toBe(0);
      }),
    );
  });

  it('asks writers to wait while too much is pending', async () => {
    const reader = lateReader();
    const stream = new DirectStream(reader.take);
    expect(stream.write('x'.repeat(16_383))).toBe(true);
    expect(stream.write('é')).toBe(false);
    expect([stream.writableLength, stream.writableNeedDrain]).toEqual([16_385, true]);
    await reader.read();
    expect([stream.writableLength, stream.writableNeedDrain]).toEqual([2, true]);
    await reader.read();
    expect([stream.writableLength, stream.writableNeedDrain]).toEqual([0, false]);
    expect(reader.taken()).toBe(`${'x'.repeat(16_383)}é`);
  });

  it('is destroyed by the first failure, and tells every writer', async () => {
    const reader = lateReader();
    const stream = new DirectStream(reader.take);
    const told: unknown[] = [];
    const failures: Error[] = [];
    stream.on('error', (error) => failures.push(error));
    stream.write('one', (error) => told.push(error));
    stream.write('two', (error) => told.push(error));
    const broken = new Error('EPIPE');
    reader.fail(broken);
    await turn();
    expect(told).toEqual([broken, broken]);
    expect(failures).toEqual([broken]);
    expect([stream.destroyed, stream.writableLength, stream.writableNeedDrain]).toEqual([true, 0, false]);
    expect(stream.write('three', (error) => told.push(error))).toBe(false);
    await turn();
    expect(told.at(-1)).toBeInstanceOf(Error);
    expect(failures).toEqual([broken]);
  });

  it('fails the same where writing throws', async () => {
    const full = new Error('ENOSPC');
    const stream = new DirectStream(() => {
      throw full;
    });
    const failures: Error[] = [];
    stream.on('error', (error) => failures.push(error));
    expect(await new Promise((resolve) => stream.write('one', resolve))).toBe(full);
    await turn();
    expect(failures).toEqual([full]);
  });
});
