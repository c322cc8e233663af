import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { isAbort } from '../../lib/errors.js';
import { makeFetch, RefusedRequest } from '../../lib/http/fetch.js';
import { settingsFor } from '../support/providers.js';
import { vendorServer } from '../support/vendor-server.js';

const POST = {
  method: 'POST',
  headers: { authorization: 'Bearer secret-0123456789', 'content-type': 'application/json' },
  body: '{"a":"ö"}',
};

describe('a request', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    await using server = await vendorServer({ headers: { 'x-one': '1' }, chunks: ['{"b":', '"ü"}'] });
    const response = await fetchFor(server.url)(`${server.url}/path?q=1`, POST);
    expect([response.status, response.ok, response.headers.get('x-one')]).toEqual([200, true, '1']);
    expect(await response.json()).toEqual({ b: 'ü' });
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/path?q=1', body: { a: 'ö' } });
    expect(server.requests[0]?.headers['content-length']).toBe('10');
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('reads a body compressed by %s', async (encoding, compress) => {
    const bytes = compress('{"text":"wörld"}');
    await using server = await vendorServer({
      headers: { 'content-encoding': encoding },
      chunks: [bytes.subarray(0, 9), bytes.subarray(9)],
    });
    const response = await fetchFor(server.url)(server.url, POST);
    expect(await response.json()).toEqual({ text: 'wörld' });
    expect(response.headers.get('content-encoding')).toBeNull();
  });

  it('that is refused throws with status, headers and the message of the server', async () => {
    await using server = await vendorServer({
      status: 429,
      headers: { 'retry-after': '3' },
      chunks: ['{"error":"slow down"}'],
    });
    const error = await fetchFor(server.url)(server.url, POST).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RefusedRequest);
    expect(error).toMatchObject({ status: 429, body: '{"error":"slow down"}' });
  });

  it('that is refused with a broken body is still refused', async () => {
    await using server = await vendorServer({ status: 401, chunks: ['{"err'], end: 'cut' });
    const error = await fetchFor(server.url)(server.url, POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 401 });
  });

  it('that is redirected names the other address', async () => {
    await using server = await vendorServer({ status: 308, headers: { location: 'https://new.example/v1' } });
    const error = await fetchFor(server.url)(server.url, POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'request', message: expect.stringContaining("'https://new.example/v1'") });
  });

  it('that is redirected within the server names the whole address, and without one is a refusal', async () => {
    await using here = await vendorServer({ status: 307, headers: { location: '/v1' } });
    const moved = await fetchFor(here.url)(here.url, POST).catch((thrown: unknown) => thrown);
    expect(moved).toMatchObject({ code: 'request', message: expect.stringContaining(`'${here.url}/v1'`) });
    for (const status of [300, 304, 307]) {
      await using nowhere = await vendorServer({ status });
      const error = await fetchFor(nowhere.url)(nowhere.url, POST).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RefusedRequest);
      expect(error).toMatchObject({ status });
    }
  });

  it('that is refused with an endless message keeps its beginning', async () => {
    await using long = await vendorServer({ status: 400, chunks: Array(40).fill('x'.repeat(10_000)), end: 'never' });
    const error = await fetchFor(long.url)(long.url, POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, body: expect.stringMatching(/^x{262144,300000}$/) });
    await using hanging = await vendorServer({ status: 401, chunks: ['{"error":'], end: 'never' });
    const cut = await fetchFor(hanging.url, { idleTimeout: 50 })(hanging.url, POST).catch((thrown: unknown) => thrown);
    expect(cut).toMatchObject({ status: 401, body: '{"error":' });
  });

  it.each([
    ['to tell', { method: 'GET' }, 4],
    ['that is read as a whole', POST, 16],
  ])('%s is given up if the answer does not end', async (_what, init, most) => {
    await using server = await vendorServer({ chunks: ['x'.repeat(1024 * 1024)], end: 'again' });
    const response = await fetchFor(server.url)(server.url, init);
    await expect(response.text()).rejects.toMatchObject({
      code: 'malformed',
      message: `'${new URL(server.url).host}' sent more than ${most} MB in one response.`,
    });
    await server.requests[0]?.closed;
  });

  it('that is answered with a web page says so', async () => {
    await using server = await vendorServer({
      headers: { 'content-type': 'text/html; charset=utf-8' },
      chunks: ['<html>'],
    });
    const error = await fetchFor(server.url)(`${server.url}/chat`, POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'request', message: `'${server.url}/chat' returned a web page.` });
  });

  it('to an invalid address names it', async () => {
    const error = await fetchFor('x')('localhost/v1', POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'config', message: "Not a web address: 'localhost/v1'." });
  });
});

describe('a connection', () => {
  it('that nobody accepts names the host and is not retried', async () => {
    const server = await vendorServer();
    await server[Symbol.asyncDispose]();
    const error = await fetchFor(server.url)(server.url, POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'network',
      message: `Nothing is listening at '${new URL(server.url).host}'.`,
      retryable: false,
    });
  });

  it('that is cut returns what came before', async () => {
    await using server = await vendorServer({ chunks: ['first ', 'second'], end: 'cut' });
    const response = await fetchFor(server.url)(server.url, POST);
    const { text, error } = await read(response);
    expect(text).toBe('first second');
    expect(error).toMatchObject({ code: 'network', retryable: true });
  });

  it('that is silent is given up after the idle time, before and after the headers', async () => {
    await using silent = await vendorServer({ silent: true });
    const before = await fetchFor(silent.url, { idleTimeout: 50 })(silent.url, POST).catch((thrown: unknown) => thrown);
    expect(before).toMatchObject({ code: 'network', retryable: false });
    await using hanging = await vendorServer({ chunks: ['word'], end: 'never' });
    const { text, error } = await read(await fetchFor(hanging.url, { idleTimeout: 50 })(hanging.url, POST));
    expect(text).toBe('word');
    expect(error).toMatchObject({ code: 'network' });
    await hanging.requests[0]?.closed;
  });

  it('waits longer for a nearby server to begin its answer', async () => {
    const slow = createServer((_, response) => {
      setTimeout(() => response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders(), 200);
      setTimeout(() => response.write('word'), 400);
    });
    await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
    const address = slow.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const fetch = fetchFor(url, { idleTimeout: 50, nearbyTimeout: 60_000 });
    const { text, error } = await read(await fetch(url, POST));
    expect({ text, error }).toMatchObject({ text: 'word', error: { code: 'network' } });
    await expect(fetch(url)).rejects.toMatchObject({ code: 'network' });
    slow.closeAllConnections();
    slow.close();
  });

  it('is closed if the caller gives up, before and after the headers', async () => {
    await using silent = await vendorServer({ silent: true });
    const early = new AbortController();
    const waiting = fetchFor(silent.url)(silent.url, { ...POST, signal: early.signal }).catch(
      (thrown: unknown) => thrown,
    );
    await until(() => silent.requests.length === 1);
    early.abort();
    expect(isAbort(await waiting)).toBe(true);
    await silent.requests[0]?.closed;

    await using hanging = await vendorServer({ chunks: ['word'], end: 'never' });
    const late = new AbortController();
    const response = await fetchFor(hanging.url)(hanging.url, { ...POST, signal: late.signal });
    const reading = read(response);
    late.abort();
    expect(isAbort((await reading).error)).toBe(true);
    await hanging.requests[0]?.closed;
  });

  it('that was kept alive but closed by the server meanwhile is replaced', async () => {
    await using server = await vendorServer({ chunks: ['{}'] });
    const fetch = fetchFor(server.url);
    await (await fetch(server.url, POST)).text();
    server.dropConnections();
    expect((await fetch(server.url, POST)).status).toBe(200);
  });
});

describe('a trace', () => {
  it('contains requests and answers without any key', async () => {
    await using server = await vendorServer({
      headers: { 'set-cookie': 'token=abc' },
      chunks: ['your key secret-0123456789 is fine'],
    });
    const lines: string[] = [];
    const fetch = fetchFor(server.url, { apiKey: 'secret-0123456789', trace: (line) => lines.push(line) });
    await (
      await fetch(`${server.url}/v1?key=secret-0123456789`, { ...POST, body: '{"say":"secret-0123456789"}' })
    ).text();
    expect(lines.join('\n')).not.toMatch(/secret|abc/);
    expect(lines.map((line) => line.slice(0, 6))).toEqual(['> POST', '> {"sa', '< 200 ', '< your']);
  });
});

describe('a proxy', () => {
  it('is used for http addresses, except for exempt ones', async () => {
    await using server = await vendorServer({ chunks: ['{}'] });
    await using proxy = await vendorServer({ chunks: ['{"from":"proxy"}'] });
    const env = { HTTP_PROXY: proxy.url };
    const far = await fetchFor(server.url, { env })('http://far.example/v1', POST);
    expect(await far.json()).toEqual({ from: 'proxy' });
    expect(proxy.requests[0]?.path).toBe('http://far.example/v1');
    await fetchFor(server.url, { env: { ...env, NO_PROXY: '127.0.0.1' } })(server.url, POST);
    expect([server.requests.length, proxy.requests.length]).toEqual([1, 1]);
  });

  it('is used as a tunnel for https addresses, with its name and password', async () => {
    const asked: unknown[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push([request.url, request.headers['proxy-authorization']]);
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = proxy.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const env = { https_proxy: `http://me:pass@127.0.0.1:${port}` };
    const error = await fetchFor('x', { env })('https://far.example/v1', POST).catch((thrown: unknown) => thrown);
    proxy.close();
    expect(asked).toEqual([['far.example:443', `Basic ${btoa('me:pass')}`]]);
    expect(error).toMatchObject({ status: 403 });
  });

  it('that never answers is given up after the idle time, or if the caller gives up, and the connection is closed', async () => {
    for (const [scheme, gives] of [
      ['https', 'up'],
      ['https', 'time'],
      ['http', 'up'],
      ['http', 'time'],
    ] as const) {
      const closed: Promise<unknown>[] = [];
      const asked = new AbortController();
      const proxy = createTcpServer((socket) => {
        closed.push(new Promise((resolve) => socket.on('close', resolve)));
        socket.on('error', () => {}).on('data', () => gives === 'up' && asked.abort());
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const address = proxy.address();
      const at = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
      const idleTimeout = gives === 'up' ? 3_600_000 : 50;
      const fetch = fetchFor('x', { env: { HTTPS_PROXY: at, HTTP_PROXY: at }, idleTimeout });
      const error = await fetch(`${scheme}://far.example/v1`, { ...POST, signal: asked.signal }).catch(
        (thrown: unknown) => thrown,
      );
      if (gives === 'up') expect(isAbort(error)).toBe(true);
      else expect(error).toMatchObject({ code: 'network', message: expect.stringMatching(/ sent nothing for /) });
      await Promise.all(closed);
      await new Promise((resolve) => proxy.close(resolve));
    }
  });

  it('that cannot be reached, or wants a password, is named', async () => {
    const gone = await vendorServer();
    await gone[Symbol.asyncDispose]();
    const host = new URL(gone.url).host;
    const error = await fetchFor('x', { env: { HTTP_PROXY: gone.url } })('http://far.example', POST).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'network',
      message: `The proxy '${host}' cannot be reached.`,
      retryable: false,
    });
    await using closed = await vendorServer({ status: 407 });
    const refused = await fetchFor('x', { env: { HTTP_PROXY: closed.url } })('http://far.example', POST).catch(
      (thrown: unknown) => thrown,
    );
    expect(refused).toMatchObject({
      code: 'network',
      message: expect.stringMatching(/requires a name and password\.$/),
    });
  });
});

function fetchFor(url: string, more: Parameters<typeof settingsFor>[1] = {}) {
  return makeFetch(settingsFor(url, more));
}

async function read(response: Response): Promise<{ text: string; error: unknown }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, error: null };
  } catch (error) {
    return { text, error };
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}
