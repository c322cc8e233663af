import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect } from '@jest/globals';
import { type McpHouse, mcpHouse, toolResults } from '../support/mcp-house.js';
import { chromium, hasPackages, httpServer, packageProgram } from '../support/mcp-packages.js';
import { runProgram } from '../support/program.js';
import { itWhere } from '../support/where.js';

const HERE = hasPackages();
const BROWSER = HERE ? chromium() : null;
const itHere = itWhere(HERE, 'the servers cannot be fetched from npm');
const itInBrowser = itWhere(BROWSER !== null, 'there is no Chromium');
const ALLOWED = { tools: { permissions: { allow: ['mcp__notes__*'] } } };

let house: McpHouse;
afterEach(() => house?.close());

/** A house whose server is this one. */
async function withServer(entry: object, calls: Parameters<typeof mcpHouse>[1] = [], more: object = {}): Promise<void> {
  house = await mcpHouse({}, calls, ALLOWED);
  house.configure(ALLOWED, { args: [], ...entry, ...more });
}

const test = (...args: readonly string[]) => runProgram(house.home, ['mcp', 'test', 'notes', ...args]);
const call = (name: string, args: object) => ({ name: `mcp__notes__${name}`, args });
const contentOf = (index = 0): string => JSON.parse(toolResults(house)[index] ?? '{}').content;

/** The processes of servers that a hi of this spec started. */
const started = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => textOf(`/proc/${name}/environ`).includes(`HOME=${house.home.folder}`))
    .filter((name) => textOf(`/proc/${name}/environ`).includes('HI_COMMAND='));

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function untilNoneRuns(): Promise<number> {
  const begin = Date.now();
  while (started().length > 0 && Date.now() - begin < 10_000) await sleep(20);
  return Date.now() - begin;
}

describe('a server of npm', () => {
  for (const [program, tools, order, expected] of [
    ['mcp-server-everything', 13, 'get-sum={"a":2,"b":40}', '42'],
    ['mcp-server-memory', 9, 'read_graph', 'entities'],
    [
      'mcp-server-sequential-thinking',
      1,
      'sequentialthinking={"thought":"a","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false}',
      'thoughtNumber',
    ],
  ] as const)
    itHere(`${program} lists and calls`, async () => {
      await withServer({ command: packageProgram(program), env: { MEMORY_FILE_PATH: '/tmp/hi-spec-no-memory.json' } });
      const { status, stdout } = await test('--json', '--call', order);
      expect(status).toBe(0);
      expect(JSON.parse(stdout).tools.length).toBeGreaterThanOrEqual(tools);
      expect(JSON.parse(stdout).result.text).toContain(expected);
      expect(started()).toEqual([]);
    });

  itHere('mcp-server-filesystem works in a turn, behind npx', async () => {
    await withServer({ command: 'npx' }, [call('read_text_file', { path: 'a.txt' })]);
    writeFileSync(join(house.home.work, 'a.txt'), 'words of a');
    const args = [
      '--no-install',
      '--prefix',
      join(packageProgram(''), '../..'),
      'mcp-server-filesystem',
      house.home.work,
    ];
    house.configure(ALLOWED, { command: 'npx', args, start_timeout_ms: 30_000 });
    await house.ask();
    expect(contentOf()).toContain('words of a');
    expect(started()).toEqual([]);
  });

  for (const kind of ['streamableHttp', 'sse'] as const)
    itHere(`mcp-server-everything works over ${kind}`, async () => {
      const server = await httpServer(kind);
      try {
        await withServer(
          { command: undefined, args: undefined, url: server.url, type: kind === 'sse' ? 'sse' : 'http' },
          [call('get-sum', { a: 2, b: 40 }), call('get-tiny-image', {})],
        );
        await house.ask();
        expect(contentOf(0)).toContain('42');
        expect(contentOf(1)).toContain('image/png');
      } finally {
        server.close();
      }
    });

  itHere('mcp-server-everything returns a picture, which the model sees', async () => {
    await withServer({ command: packageProgram('mcp-server-everything') }, [call('get-tiny-image', {})]);
    await house.ask();
    expect(contentOf()).toMatch(/\[image\/png, \d+ bytes, in \S+; shown below\]/);
    expect(JSON.stringify(house.model.server.requests.at(-1)?.messages)).toContain('data:image/png;base64,');
  });

  itHere('mcp-server-everything may take longer than it may be silent', async () => {
    const long = call('trigger-long-running-operation', { duration: 6, steps: 6 });
    await withServer({ command: packageProgram('mcp-server-everything') }, [long], { timeout_ms: 3000 });
    await house.ask();
    expect(contentOf()).toMatch(/completed/i);
  });

  itHere('mcp-server-everything is cancelled, crashes and is killed with hi without a trace', async () => {
    const long = call('trigger-long-running-operation', { duration: 60, steps: 60 });
    const program = packageProgram('mcp-server-everything');
    await withServer({ command: 'sh', args: ['-c', `'${program}'; :`] }, [long]);
    const untilCalled = async (): Promise<void> => {
      while (started().length < 2) await sleep(20);
      await sleep(2500);
    };
    const stopped = await house.ask([], { during: ({ kill }) => void untilCalled().then(() => kill('SIGINT')) });
    expect(stopped.status).toBe(130);
    expect(started()).toEqual([]);
    house.model.reset();
    const crashed = await house.ask([], {
      during: () =>
        void untilCalled().then(() => started().forEach((pid) => void process.kill(Number(pid), 'SIGKILL'))),
    });
    expect(crashed).toMatchObject({ status: 0, stdout: 'done' });
    expect(toolResults(house)[0]).toContain("The server 'notes'");
    house.model.reset();
    await house.ask([], { during: ({ kill }) => void untilCalled().then(() => kill('SIGKILL')) });
    expect(await untilNoneRuns()).toBeLessThan(1000);
  });
});

describe("Playwright's server with Debian's Chromium", () => {
  itInBrowser('opens a page, reads it, and shows a picture of it; no browser is left running', async () => {
    const page = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<title>A page</title><h1>Heading of the page</h1>');
    });
    await new Promise<void>((done) => page.listen(0, '127.0.0.1', done));
    const { port } = page.address() as AddressInfo;
    try {
      const args = ['--headless', '--no-sandbox', '--isolated', '--executable-path', BROWSER ?? ''];
      await withServer({ command: packageProgram('playwright-mcp'), args, start_timeout_ms: 60_000 }, [
        call('browser_navigate', { url: `http://127.0.0.1:${port}/` }),
        call('browser_take_screenshot', {}),
      ]);
      await house.ask();
      expect(contentOf(0)).toContain('Page Title: A page');
      expect(contentOf(1)).toMatch(/\[image\/(?:png|jpeg), \d+ bytes/);
      expect(await untilNoneRuns()).toBeLessThan(1000);
    } finally {
      page.close();
    }
  });
});
