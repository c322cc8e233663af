import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { makeFetch } from '../../lib/http/fetch.js';
import { settingsFor } from '../support/providers.js';

/** More than the buffers between two processes hold, so that it is not out before the server reads. */
const BODY = 'x'.repeat(32 * 1024 * 1024);
const IDLE = 500;

describe('a long request on a slow line', () => {
  it('may take longer than the idle limit, a second for every 64 KiB', async () => {
    await using server = await slowServer(3 * IDLE);
    const fetch = makeFetch(settingsFor(server.url, { idleTimeout: IDLE }));
    const response = await fetch(server.url, { method: 'POST', body: BODY });
    expect(await response.text()).toBe(String(BODY.length));
  });
});

/** A server that begins to read a request only after that time, and answers with how many bytes it had. */
async function slowServer(milliseconds: number): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (request, response) => {
    await delay(milliseconds);
    let size = 0;
    for await (const chunk of request) size += chunk.length;
    response.end(String(size));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
