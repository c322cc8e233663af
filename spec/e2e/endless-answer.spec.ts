import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { openTerminal } from '../support/terminal.js';

let server: Server;
let home: Home;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  home?.remove();
});

const TOTAL = 500 * 1024 * 1024;

/** The most memory for it, in MB: text beyond Latin-1 takes V8 two bytes a character, and copies of it too. */
const [MOST, MOST_WIDE] = [150, 180];

/** Writes one event again and again, 500 MB of it, as fast as it is read. */
async function flood(response: ServerResponse, delta: object): Promise<void> {
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  const block = event.repeat(Math.ceil(65_536 / event.length));
  response.setMaxListeners(0);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let sent = 0; sent < TOTAL && !response.destroyed; sent += block.length)
    if (!response.write(block)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  response.end('data: [DONE]\n\n');
}

/** Starts such a server, and makes a home that is configured for it. */
async function setUp(delta: object): Promise<void> {
  server = createServer((request, response) => {
    request.resume().on('end', () => void flood(response, delta));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  home = makeHome({ provider: 'openai', model: 'x', api_base: `http://127.0.0.1:${port}` });
}

/** Runs `hi ask` against such a server. Resolves to its exit status, what it wrote and the most memory it took, in MB. */
async function ask(delta: object): Promise<{ status: number; stdout: string; stderr: string; peak: number }> {
  await setUp(delta);
  const child = spawn(RUNTIME, [PROGRAM, 'ask', 'go'], {
    env: home.env,
    cwd: home.work,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr, peak] = ['', '', 0];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid ?? 0));
  }, 20);
  const [status] = await once(child, 'close');
  clearInterval(watch);
  return { status, stdout, stderr, peak };
}

/** The most that the process ever had, as Linux tells; 0 elsewhere. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

const stored = () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile], { maxBuffer: 2 ** 30 }).toString());

describe('an answer that does not end', () => {
  it('is stopped with a notice, kept as far as it came, and takes little memory', async () => {
    const run = await ask({ content: 'lorem ipsum dolor sit amet '.repeat(2000) });
    expect(run.status).toBe(0);
    expect(run.stderr).toBe('Stopped: the answer is longer than 2 million characters. The part received is kept.\n');
    expect(run.stdout.length).toBeGreaterThan(2 * 1024 * 1024);
    expect(stored().at(-1).content[0].text).toBe(run.stdout);
    expect(run.peak).toBeLessThan(MOST);
  });

  it('takes little memory in small pieces, and as thoughts', async () => {
    for (const delta of [
      { content: 'lorem ipsum ' },
      { reasoning_content: 'lorem ipsum dolor sit amet '.repeat(2000) },
    ]) {
      const { peak, status } = await ask(delta);
      expect([status, peak < MOST]).toEqual([0, true]);
      home.remove();
      server.closeAllConnections();
    }
  });

  it('takes little memory as the arguments of a call too, which is not run', async () => {
    const run = await ask({
      tool_calls: [{ index: 0, id: 'c', function: { name: 'bash', arguments: 'x'.repeat(50_000) } }],
    });
    expect(run.status).toBe(5);
    expect(run.stderr).toContain('The arguments of a call are longer than 8 million characters.');
    expect(run.peak).toBeLessThan(MOST);
  });

  it.each([
    ['coloured code', '```js\nconst a = 1;\n```\n'],
    ['a row without an end', '|'.repeat(50_000)],
    ['a paragraph without an end', 'lorem ipsum dolor sit amet '.repeat(2000)],
    ['a word of unpaired marks without an end', '*a'.repeat(25_000)],
    ['quotations in quotations without an end', '> '.repeat(25_000)],
    ['sequences that write to the clipboard, never ended', '\x1b]52;c;AAAA'.repeat(4000)],
    ['halves of characters', '\ud83d'.repeat(50_000)],
    ['a fence whose first line does not end', `\`\`\`${'x'.repeat(50_000)}`],
  ])(
    'takes little memory and time on a terminal: %s',
    async (_what, content) => {
      await setUp({ content });
      const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'go'], { env: home.env, cwd: home.work });
      let peak = 0;
      const watch = setInterval(() => {
        peak = Math.max(peak, peakOf(terminal.pid));
      }, 20);
      await terminal.until('The part received is', 60_000);
      expect(await terminal.exit()).toMatchObject({ status: 0 });
      clearInterval(watch);
      await terminal.close();
      expect(peak).toBeLessThan(/[^\0-\xff]/.test(content) ? MOST_WIDE : MOST);
    },
    90_000,
  );
});
