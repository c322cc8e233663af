import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { publicLookup } from '../../lib/http/address.js';
import { download } from '../../lib/http/download.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let home: Home;
let model: ScriptedServer;
let web: Server;
let site = '';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

beforeEach(async () => {
  model = await startScriptedServer(() => ({ text: 'Done.' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: model.base });
  web = createServer(({ url, headers }, response) => {
    switch (url) {
      case '/notes.txt':
        return response
          .setHeader('content-type', 'text/plain; charset=iso-8859-1')
          .end(Buffer.from('caf\u00e9\n', 'latin1'));
      case '/old.html':
        return response
          .setHeader('content-type', 'text/html')
          .end(Buffer.from('<html><head><meta http-equiv="x"><meta charset="windows-1252">caf\u00e9', 'latin1'));
      case '/empty':
        return response.writeHead(204).end();
      case '/packed':
        return response.setHeader('content-encoding', 'gzip').end(gzipSync('unpacked'));
      case '/dot.png':
        return response.setHeader('content-type', 'image/png').end(PNG);
      case '/moved':
        return response.writeHead(302, { location: '/notes.txt' }).end();
      case '/round':
        return response.writeHead(302, { location: '/round' }).end();
      case '/away':
        return response.writeHead(302, { location: 'file:///etc/hostname' }).end();
      case '/secret':
        return response.end(headers.authorization === `Basic ${btoa('me:pass')}` ? 'let in' : 'shut out');
      case '/large':
        response.writeHead(200, { 'content-type': 'text/plain' });
        for (let megabyte = 0; megabyte < 22; megabyte += 1) response.write('x'.repeat(1024 * 1024));
        return response.end();
      case '/silent':
        return response.flushHeaders();
      case '/cut':
        response.writeHead(200, { 'content-length': '1000' }).write('x');
        return setTimeout(() => response.destroy(), 50);
      default:
        return response.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => web.listen(0, '127.0.0.1', done));
  const address = web.address();
  site = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});

afterEach(async () => {
  web.closeAllConnections();
  web.close();
  await model.close();
  home.remove();
});

const hi = (...args: string[]) =>
  runProgram({ ...home, env: { ...home.env, HI_IDLE_TIMEOUT_MS: '1000' } }, ['ask', ...args]);
const sent = (): string => JSON.stringify(model.requests.at(-1)?.messages.at(-1)?.content);

describe('a web address after -f', () => {
  it('is attached like a file, and stderr says what was fetched', async () => {
    const run = await hi('-f', `${site}/notes.txt`, 'What?');
    expect(run).toEqual({
      status: 0,
      stdout: 'Done.\n',
      stderr: `Fetched ${site}/notes.txt: text/plain; charset=iso-8859-1, 5 bytes\n`,
    });
    expect(JSON.parse(sent())).toContain(`<file name="${site}/notes.txt">\ncaf\u00e9\n</file>`);
    await hi('-q', '-f', `${site}/old.html`, 'What?');
    expect(sent()).toContain('caf\u00e9');
    expect(await hi('-f', `${site}/empty`, 'What?')).toMatchObject({ status: 2, stdout: '' });
    expect((await hi('-q', '-f', `${site}/packed`, 'What?')).stderr).toBe('');
    expect(sent()).toContain('unpacked');
    await hi('-f', `${site}/dot.png`, 'What?');
    expect(sent()).toContain(PNG.toString('base64'));
  });

  it('may redirect, and may contain a password, which is shown nowhere', async () => {
    expect((await hi('-f', `${site}/moved`, 'What?')).stderr).toBe(
      `Fetched ${site}/moved: text/plain; charset=iso-8859-1, 5 bytes, from ${site}/notes.txt\n`,
    );
    const run = await hi('-f', `${site.replace('//', '//me:pass@')}/secret`, 'What?');
    expect(sent()).toContain('let in');
    expect(run.stderr + sent()).not.toContain('pass@');
  });

  it.each([
    ['/gone', 'The server answered 404 Not Found.'],
    ['/round', 'It redirects more than 5 times.'],
    ['/away', "It redirects to 'file:///etc/hostname', which is not a web address."],
    ['/large', 'It is larger than the limit of 20 MB.'],
    ['/silent', 'The server sent nothing for 1 s.'],
    ['/cut', 'The connection was lost.'],
  ])('is refused for %s, and nothing is sent', async (path, reason) => {
    const run = await hi('-f', `${site}${path}`, 'What?');
    expect(run).toMatchObject({ status: 5, stdout: '' });
    expect(run.stderr).toContain(`Cannot fetch '${site}${path}': ${reason}`);
    expect(model.requests).toEqual([]);
  });

  it('is refused if nothing listens there and if it is invalid', async () => {
    expect((await hi('-f', 'http://127.0.0.1:1/', 'What?')).stderr).toContain("Nothing is listening at '127.0.0.1:1'.");
    expect(await hi('-f', 'http://', 'What?')).toMatchObject({ status: 2, stdout: '' });
  });
});

it('does not follow a redirect from the web to a private address', async () => {
  // A proxy on loopback stands for the web: it answers for any host.
  const proxy = createServer((_request, response) => response.writeHead(302, { location: `${site}/notes.txt` }).end());
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  const address = proxy.address();
  const env = {
    HTTP_PROXY: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    NO_PROXY: '127.0.0.1',
  };
  const { signal } = new AbortController();
  try {
    await expect(
      download('http://203.0.113.7/page', { limit: 1000, idleTimeout: 1000, env, signal }),
    ).rejects.toMatchObject({ code: 'network', message: expect.stringContaining('redirects to the private address') });
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

it('does not connect to a name that has become private', async () => {
  const outcome = new Promise((resolve) => publicLookup('localhost', {}, (error) => resolve(error?.message)));
  expect(await outcome).toBe("'localhost' is a private address");
});

it('exits with 130 when it is interrupted', async () => {
  const child = spawn(RUNTIME, [PROGRAM, 'ask', '-f', `${site}/silent`, 'q'], {
    env: home.env,
    cwd: home.work,
  });
  let said = '';
  child.stderr.on('data', (piece) => {
    said += piece;
  });
  child.stdin.end();
  await once(web, 'request');
  await new Promise((resolve) => setTimeout(resolve, 100));
  child.kill('SIGINT');
  const [status] = await once(child, 'exit');
  expect([status, said]).toEqual([130, expect.not.stringContaining('bug')]);
});
