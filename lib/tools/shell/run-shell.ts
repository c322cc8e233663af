import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandProcesses, endProcesses, isRunning, MARK, newMark } from './end-processes.js';

/** How long what is told to end may take before it is killed. */
const GRACE_MS = 400;

/** How a shell command is run. */
export interface ShellRun {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout: number;
  /** The program and arguments before `bash` that shut it in; empty without a sandbox. */
  readonly wrapper: readonly string[];
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
}

/** How it ended. */
export interface ShellEnd {
  /** As a shell would tell it: 128 and the signal's number for a command that was killed, 124 after a time-out. */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** The folder the command ended in; null when it did not say. */
  readonly folder: string | null;
  /** What it left running in the background; null for nothing. */
  readonly background: CommandProcesses | null;
}

/**
 * Runs a command in bash, in a session of its own: no terminal, nothing to read, one group to end. Resolves when bash itself ends,
 * whatever it left in the background. A time-out or an aborted `signal` ends the whole group.
 */
export async function runShell(command: string, run: ShellRun, signal: AbortSignal): Promise<ShellEnd> {
  const mark = newMark();
  const [program = 'bash', ...before] = [...run.wrapper, 'bash'];
  const child = spawn(program, [...before, '--noprofile', '--norc', '-c', withExitFolder(command)], {
    cwd: run.folder,
    env: { ...run.env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // setsid: a new process group, and no /dev/tty to draw on or ask at.
    detached: true,
  });
  const output = watchPipes(child, run);
  const processes = { group: await started(child), mark };
  let timedOut = false;
  let ending: Promise<void> | null = null;
  const end = () => {
    ending ??= endProcesses(processes, GRACE_MS);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    end();
  }, run.timeout);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const { code, killedBy } = await ended(child);
  clearTimeout(timer);
  signal.removeEventListener('abort', end);
  await ending;
  await output.drained();
  child.unref();
  return {
    exitCode: timedOut ? 124 : (code ?? 128 + signalNumber(killedBy)),
    signal: killedBy,
    timedOut,
    folder: output.folder(),
    background: isRunning(processes) ? processes : null,
  };
}

// Bash says its last folder on an extra descriptor when it exits, so there is nothing to race with.
function withExitFolder(command: string): string {
  return `trap 'pwd -P >&3' EXIT; ${command}`;
}

function started(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', reject);
  });
}

function ended(child: ChildProcess): Promise<{ code: number | null; killedBy: NodeJS.Signals | null }> {
  if (child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve({ code: child.exitCode, killedBy: child.signalCode });
  return new Promise((resolve) => child.once('exit', (code, killedBy) => resolve({ code, killedBy })));
}

interface Pipes {
  /** Resolves when everything bash printed has come, without waiting for what it left in the background. */
  drained(): Promise<void>;
  folder(): string | null;
}

function watchPipes(child: ChildProcess, run: ShellRun): Pipes {
  let reported = '';
  let last = 0;
  let closed = false;
  let isDrained = false;
  child.once('close', () => {
    closed = true;
  });
  const receiver = (take: (chunk: Buffer) => void) => (chunk: Buffer) => {
    last = Date.now();
    // What runs on in the background is read and dropped: it would die of a closed pipe.
    if (!isDrained) take(chunk);
  };
  const outputs = [
    { stream: child.stdout, take: run.stdout },
    { stream: child.stderr, take: run.stderr },
    {
      stream: child.stdio[3],
      take: (chunk: Buffer) => {
        reported = (reported + chunk.toString()).slice(-8192);
      },
    },
  ];
  for (const { stream, take } of outputs) {
    stream?.on('data', receiver(take));
    stream?.on('error', () => {});
  }
  return {
    async drained() {
      const begin = Date.now();
      last = begin;
      while (!closed && Date.now() - last < 40 && Date.now() - begin < 400) await sleep(5);
      isDrained = true;
      for (const { stream } of outputs)
        if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
    },
    folder: () => /(?:^|\n)(\/[^\n]*)\n$/.exec(reported)?.[1] ?? null,
  };
}

function signalNumber(name: NodeJS.Signals | null): number {
  return name === null ? 0 : constants.signals[name];
}
