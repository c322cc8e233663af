import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn as spawnOnTerminal } from '@lydell/node-pty';
import { leastPeak, peakMemory } from '../support/peak-memory.js';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type VendorServer, vendorServer } from '../support/vendor-server.js';

let server: VendorServer;
let home: Home;

afterEach(cleanUp);

async function cleanUp(): Promise<void> {
  await server[Symbol.asyncDispose]();
  home.remove();
}

/** In MB. */
const MOST = 150;

const PROSE = 'lorem ipsum dolor sit amet '.repeat(2000);

/** What tells that it was stopped. */
const STOPPED = 'Stopped: the answer is longer than 2 million characters. The part received is kept.\n';

/** What a server says again and again, after what it says once. */
interface Endless {
  readonly provider?: string;
  readonly first?: string;
  readonly event: string;
}

/** A piece of an answer as OpenAI sends it. */
const piece = (delta: object): Endless => ({
  event: `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`,
});

/** Starts a server that never ends what it says, whatever it is asked, and makes a home that is configured for it. */
async function setUp({ provider = 'openai', first = '', event }: Endless): Promise<void> {
  const block = event.repeat(Math.ceil(65_536 / event.length));
  const headers = { 'content-type': 'text/event-stream' };
  server = await vendorServer({ headers, chunks: first === '' ? [block] : [first, block], end: 'again' });
  home = makeHome({ provider, model: 'x', api_base: server.url });
}

/**
 * Runs `hi ask` against such a server. Resolves to its exit status, what it wrote and the most memory it took, in MB.
 */
async function ask(answer: Endless): Promise<{ status: unknown; stdout: string; stderr: string; peak: number }> {
  await setUp(answer);
  const child = spawn(RUNTIME, [PROGRAM, 'ask', 'go'], {
    env: home.env,
    cwd: home.work,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk) => out.push(chunk));
  child.stderr.on('data', (chunk) => err.push(chunk));
  const closed = once(child, 'close');
  const peak = await peakMemory(child.pid, closed);
  const [status] = await closed;
  return { status, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), peak };
}

/**
 * Runs it on a terminal whose output is thrown away: an emulator would take longer for it than the program, and its
 * last part may be lost.
 */
async function askOnTerminal(content: string): Promise<{ status: number; peak: number }> {
  await setUp(piece({ content }));
  const env = { ...home.env, TERM: 'xterm-256color' };
  const terminal = spawnOnTerminal(RUNTIME, [PROGRAM, 'ask', 'go'], { cols: 80, rows: 24, cwd: home.work, env });
  terminal.onData(() => {});
  const exited = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  const peak = await peakMemory(terminal.pid, exited);
  return { status: await exited, peak };
}

/** A run that leaves nothing behind, for its peak alone. */
async function peakOf(run: () => Promise<{ readonly peak: number }>): Promise<number> {
  const { peak } = await run();
  await cleanUp();
  return peak;
}

const stored = () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile], { maxBuffer: 2 ** 30 }).toString());

/** At the limit, behind one piece at most. */
function expectCut({ length }: string): void {
  expect(length).toBeGreaterThan(2 * 1024 * 1024);
  expect(length).toBeLessThan(2 * 1024 * 1024 + 20_000);
}

describe('an endless answer', () => {
  it('is stopped with a notice, and stored as far as it came', async () => {
    const run = await ask(piece({ content: PROSE }));
    expect([run.status, run.stderr]).toEqual([0, STOPPED]);
    expectCut(run.stdout);
    expect(`${stored().at(-1).content[0].text}\n` === run.stdout).toBe(true);
    expect(run.peak).toBeGreaterThan(process.platform === 'linux' ? 20 : -1);
  });

  const call = (args: string): Endless =>
    piece({ tool_calls: [{ index: 0, id: 'c', function: { name: 'bash', arguments: args } }] });

  it.each<[string, Endless, string]>([
    ['in small pieces', piece({ content: 'lorem ipsum ' }), STOPPED],
    ['as thoughts', piece({ reasoning_content: PROSE }), STOPPED],
    ['as the arguments of a call', call('x'.repeat(50_000)), 'The arguments of a call are longer than 8 million'],
    ['in one event', { first: 'data: {"choices":[{"delta":{"content":"', event: PROSE }, 'without a complete event'],
    // The description of the model, which is read as a whole, does not end either.
    ['from Ollama', { provider: 'ollama', event: `${JSON.stringify({ message: { content: PROSE } })}\n` }, STOPPED],
  ])('takes little memory %s', async (_what, answer, message) => {
    const peak = await leastPeak(MOST, () =>
      peakOf(async () => {
        const run = await ask(answer);
        expect(run.stderr).toContain(message);
        expect(run.status).toBe(message === STOPPED ? 0 : 5);
        return run;
      }),
    );
    expect(peak).toBeLessThan(MOST);
  });

  it.each([
    ['coloured code', '```js\nconst a = 1;\n```\n'],
    ['a row without an end', '|'.repeat(50_000)],
    ['a paragraph without an end', PROSE],
    ['a word of unpaired marks without an end', '*a'.repeat(25_000)],
    ['quotations in quotations without an end', '> '.repeat(25_000)],
    ['sequences that write to the clipboard, never ended', '\x1b]52;c;AAAA'.repeat(4000)],
    ['halves of characters', '\ud83d'.repeat(50_000)],
    ['a fence whose first line does not end', `\`\`\`${'x'.repeat(50_000)}`],
  ])('takes little memory and time on a terminal: %s', async (_what, content) => {
    const peak = await leastPeak(MOST, () =>
      peakOf(async () => {
        const run = await askOnTerminal(content);
        expect(run.status).toBe(0);
        expectCut(stored().at(-1).content[0].text);
        return run;
      }),
    );
    expect(peak).toBeLessThan(MOST);
  });
});
