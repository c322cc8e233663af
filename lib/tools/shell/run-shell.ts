import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandProcesses, endProcesses, isRunning, MARK, newMark } from '../../end-processes.js';
import type { ShellName } from '../../permission/shell/shell-name.js';
import { shellArguments, shellProgram } from './command-shell.js';

/** How long processes may take to end after SIGTERM before they are killed, in milliseconds. */
const GRACE_MS = 400;

/** The options of one shell command. */
export interface ShellRun {
  readonly shell: ShellName;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout: number;
  /** The sandbox program and its arguments, which precede the shell; empty without a sandbox. */
  readonly wrapper: readonly string[];
  /** What the wrapper reads from descriptor 4; null for nothing. */
  readonly filter: Uint8Array | null;
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
}

/** How a shell command ended. */
export interface ShellEnd {
  /** The exit status as a shell reports it: 128 plus the signal number for a killed command; 124 after a timeout, like `timeout`. */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** The working folder at the end; null if it was not reported. */
  readonly folder: string | null;
  /** The processes it left in the background; null for none. */
  readonly background: CommandProcesses | null;
}

/**
 * Runs a command in a shell, in a session and process group of its own, with no terminal and no input. Resolves when the shell ends, even if
 * it leaves processes in the background. A timeout or an aborted `signal` ends the whole group.
 */
export async function runShell(command: string, run: ShellRun, signal: AbortSignal): Promise<ShellEnd> {
  const mark = newMark();
  const [program = run.shell, ...before] = [...run.wrapper, shellProgram(run.shell)];
  const child = spawn(program, [...before, ...shellArguments(run.shell, command)], {
    cwd: run.folder,
    env: { ...run.env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(run.filter === null ? [] : (['pipe'] as const))],
    // setsid: a new process group, and no /dev/tty to draw on or read from. Windows would open a console instead.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  give(child.stdio[4], run.filter);
  const output = new ShellOutput(child, run);
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
    folder: output.exitFolder,
    background: isRunning(processes) ? processes : null,
  };
}

function give(stream: ChildProcess['stdio'][number] | undefined, bytes: Uint8Array | null): void {
  if (bytes === null || !stream || !('end' in stream)) return;
  // A wrapper that cannot start does not read its input, and reports the error itself.
  stream.on('error', () => {});
  stream.end(bytes);
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

/** The pipes count as empty after `QUIET_MS` milliseconds without output, or after `LONGEST_DRAIN_MS` in total. */
const QUIET_MS = 40;
const LONGEST_DRAIN_MS = 400;

/** The pipes of a command: stdout, stderr, and the folder it ends in. */
class ShellOutput {
  readonly #streams: readonly ChildProcess['stdio'][number][];
  #reported = '';
  #lastChunk = 0;
  /** Those that have not told their end. Of the process that would be no use: Bun says that it closed before the folder was read. */
  readonly #open = new Set<unknown>();
  #isDrained = false;

  constructor(child: ChildProcess, run: ShellRun) {
    this.#streams = [child.stdout, child.stderr, child.stdio[3]];
    const report = (chunk: Buffer) => {
      this.#reported = (this.#reported + chunk.toString()).slice(-8192);
    };
    this.#listen(child.stdout, (chunk) => run.stdout(chunk));
    this.#listen(child.stderr, (chunk) => run.stderr(chunk));
    this.#listen(child.stdio[3], report);
  }

  #listen(stream: ChildProcess['stdio'][number] | undefined, take: (chunk: Buffer) => void): void {
    if (!stream) return;
    this.#open.add(stream);
    for (const name of ['end', 'close']) stream.once(name, () => this.#open.delete(stream));
    stream.on('data', (chunk: Buffer) => {
      this.#lastChunk = Date.now();
      // The output of background processes is read and discarded: a closed pipe would kill them.
      if (!this.#isDrained) take(chunk);
    });
    stream.on('error', () => {});
  }

  /** Resolves when everything the shell printed has been read, without waiting for background processes. */
  async drained(): Promise<void> {
    const begin = Date.now();
    this.#lastChunk = begin;
    while (this.#open.size > 0 && Date.now() - this.#lastChunk < QUIET_MS && Date.now() - begin < LONGEST_DRAIN_MS)
      await sleep(5);
    this.#isDrained = true;
    for (const stream of this.#streams)
      if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  }

  /** The folder in which the shell exited; null if it was not reported. */
  get exitFolder(): string | null {
    return /(?:^|\n)(\/[^\n]*)\n$/.exec(this.#reported)?.[1] ?? null;
  }
}

function signalNumber(name: NodeJS.Signals | null): number {
  return name === null ? 0 : constants.signals[name];
}
