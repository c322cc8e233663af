import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { createGunzip, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { chunkQueue } from '../../../lib/http/body.js';
import { FetchedBody } from '../../../lib/http/send-with-bun.js';

/** A response whose body is pulled piece by piece, how many were, and whether it was cancelled. */
function response(pieces: readonly (string | Error)[]) {
  const seen = { pulled: 0, aborted: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[seen.pulled];
        seen.pulled += 1;
        if (piece === undefined) controller.close();
        else if (piece instanceof Error) controller.error(piece);
        else controller.enqueue(Buffer.from(piece));
      },
    },
    { highWaterMark: 0 },
  );
  const controller = new AbortController();
  controller.signal.addEventListener('abort', () => {
    seen.aborted = true;
  });
  return { body: new FetchedBody(new Response(body), controller), seen };
}

async function readAll(body: FetchedBody): Promise<string> {
  const read = chunkQueue(body);
  let text = '';
  for (let chunk = await read(); chunk !== null; chunk = await read()) text += Buffer.from(chunk).toString();
  return text;
}

describe('the body of a response of fetch', () => {
  it('is read to its end', async () => {
    const { body, seen } = response(['one ', 'two ', 'x'.repeat(20_000)]);
    expect(await readAll(body)).toBe(`one two ${'x'.repeat(20_000)}`);
    expect(seen.aborted).toBe(false);
    expect(await readAll(new FetchedBody(new Response(null), new AbortController()))).toBe('');
  });

  it('gives what came before the connection broke, then the error', async () => {
    const { body } = response(['last words', new Error('reset')]);
    const read = chunkQueue(body);
    expect(Buffer.from((await read()) ?? '').toString()).toBe('last words');
    await expect(read()).rejects.toThrow('reset');
  });

  it('is not read while it is paused', async () => {
    const { body, seen } = response(Array.from({ length: 50 }, () => 'x'));
    body.on('data', () => body.pause());
    body.resume();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(seen.pulled).toBe(1);
    body.resume();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(seen.pulled).toBe(2);
  });

  it('ends with the error with which it is destroyed, and stops the request', async () => {
    const { body, seen } = response(['x', 'y']);
    const failed = new Promise((resolve) => body.on('error', resolve));
    let read = 0;
    body.on('data', () => {
      read += 1;
    });
    body.destroy(new Error('silent'));
    expect(seen.aborted).toBe(true);
    expect(await failed).toEqual(new Error('silent'));
    body.resume();
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(read).toBe(0);
  });

  it('is decompressed as any stream is, and stops the request when the reader leaves', async () => {
    const text = 'word '.repeat(10_000);
    const packed = gzipSync(text);
    const parts = new FetchedBody(new Response(packed), new AbortController());
    let read = '';
    await pipeline(parts, createGunzip(), async (source) => {
      for await (const chunk of source) read += chunk;
    });
    expect(read).toBe(text);
    const { body, seen } = response(['a', 'b', 'c']);
    for await (const bytes of body) {
      expect(Buffer.from(bytes).toString()).toBe('a');
      break;
    }
    expect(seen.aborted).toBe(true);
  });
});
