import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { spawn as spawnInTerminal } from '@lydell/node-pty';

/** The cost of one run: times in milliseconds since the start, `peak` in bytes of memory, `bytes` of output. */
export interface Cost {
  readonly wall: number;
  readonly peak: number;
  /** When the server got its first request; NaN if it got none. */
  readonly request: number;
  /** When the first byte was on stdout; NaN if there was none. */
  readonly output: number;
  readonly bytes: number;
}

/** A clock that a server stops when a request arrives. */
export interface RequestClock {
  arrived: number | null;
}

/** Runs a program without a terminal and measures it. Rejects if it fails, because a failed run says nothing. */
export async function runOnce(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  clock: RequestClock | null,
): Promise<Cost> {
  if (clock) clock.arrived = null;
  const [program = '', ...args] = command;
  const begin = performance.now();
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = Number.NaN;
  let bytes = 0;
  let peak = 0;
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (bytes === 0) output = performance.now() - begin;
    bytes += chunk.length;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk;
  });
  // The kernel keeps the peak until the process ends, so the last poll is at most a few milliseconds old.
  const watch = setInterval(() => {
    peak = Math.max(peak, highWater(child.pid));
  }, 4);
  const { status, wall } = await new Promise<{ status: number | null; wall: number }>((resolve) => {
    let wall = 0;
    child.once('exit', () => {
      wall = performance.now() - begin;
    });
    child.once('close', (status) => resolve({ status, wall }));
  });
  clearInterval(watch);
  if (status !== 0) throw new Error(`'${command.join(' ')}' exited with ${status}: ${complaints}`);
  const arrived = clock?.arrived;
  return { wall, peak, request: arrived ? arrived - begin : Number.NaN, output, bytes };
}

/**
 * Runs a chat in a terminal until it shows its prompt, then quits it. `output` is the time of the prompt. Rejects if
 * the chat exits before.
 */
export async function untilPrompt(command: readonly string[], env: Readonly<Record<string, string>>): Promise<Cost> {
  const [program = '', ...args] = command;
  const begin = performance.now();
  const terminal = spawnInTerminal(program, args, { cols: 80, rows: 24, env: { ...env, TERM: 'xterm-256color' } });
  let written = '';
  const output = await new Promise<number>((done, failed) => {
    terminal.onData((text) => {
      written += text;
      if (/hi(?: \d+%)?> /.test(written)) done(performance.now() - begin);
    });
    terminal.onExit(() => failed(new Error(`'${command.join(' ')}' exited before its prompt: ${written}`)));
  });
  const peak = highWater(terminal.pid);
  const left = new Promise<void>((done) => terminal.onExit(() => done()));
  terminal.write('\x04');
  await left;
  return { wall: performance.now() - begin, peak, request: Number.NaN, output, bytes: written.length };
}

function highWater(pid: number | undefined): number {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(found?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
