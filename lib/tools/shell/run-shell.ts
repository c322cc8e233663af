import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newlinesIn } from '../../chat/text.js';
import type { ShellName } from '../../permission/shell/shell-word.js';
import { type CommandProcesses, endProcesses, isRunning, MARK, newMark, ownProgram } from '../../processes.js';
import type { DeferredOutput } from '../common/tool.js';

/** The parts of the system that determine which shells are available. */
interface ShellSearch {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  isProgram(path: string): boolean;
}

/** The default of `PATH`. */
const USUAL_PATH = '/usr/bin:/bin';

/**
 * Where a shell is on nearly every system. PATH may begin with many folders that have none, and to look into each costs
 * every start a little.
 */
const USUAL_FOLDERS = USUAL_PATH.split(':');

/** The shell that runs commands: bash, or sh if PATH has no bash, as on Alpine. */
export function commandShell(
  env: ShellSearch['env'],
  { platform, isProgram }: Pick<ShellSearch, 'platform' | 'isProgram'> = here(),
): ShellName {
  if (platform === 'win32') return 'bash';
  const folders = (env.PATH ?? USUAL_PATH).split(':').filter(isAbsolute);
  const likely = USUAL_FOLDERS.filter((folder) => folders.includes(folder));
  const has = (name: string): boolean =>
    [...new Set([...likely, ...folders])].some((folder) => isProgram(join(folder, name)));
  return !has('bash') && has('sh') ? 'sh' : 'bash';
}

/**
 * The program of a shell, found in PATH. On Windows, bash comes with Git for Windows, which does not add it to PATH; a
 * bash in PATH is that of another system (WSL).
 */
export function shellProgram(name: ShellName, { platform, env, isProgram }: ShellSearch = hereAndNow()): string {
  if (platform !== 'win32') return ownProgram(name, env);
  const folders = [env.ProgramW6432, env.ProgramFiles, env.LOCALAPPDATA && `${env.LOCALAPPDATA}\\Programs`];
  const found = folders.map((folder) => `${folder}\\Git\\bin\\bash.exe`).find(isProgram);
  return found ?? name;
}

/**
 * The arguments to run a command in a shell that reads no startup files and writes its last working folder to
 * descriptor 3.
 */
export function shellArguments(
  name: ShellName,
  command: string,
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  const plain = name === 'bash' ? ['--noprofile', '--norc'] : [];
  return [...plain, '-c', withExitFolder(command, platform)];
}

/** Has the shell report its folder itself: asking afterwards would be a race. */
function withExitFolder(command: string, platform: NodeJS.Platform): string {
  // Bash of Git for Windows would report `/c/Users`, which other programs do not understand.
  const pwd = platform === 'win32' ? 'pwd -W' : 'pwd -P';
  return `trap '${pwd} >&3' EXIT; ${command}`;
}

const here = (): Pick<ShellSearch, 'platform' | 'isProgram'> => ({ platform: process.platform, isProgram });

const hereAndNow = (): ShellSearch => ({ ...here(), env: process.env });

function isProgram(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && (process.platform === 'win32' || (found.mode & 0o111) !== 0);
  } catch {
    // A folder without permission to enter.
    return false;
  }
}

/** How long processes may take to end after SIGTERM before they are killed, in milliseconds. */
const GRACE_MS = 400;

/** The options of one shell command. */
interface ShellRun {
  readonly shell: ShellName;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout: number;
  /** The sandbox program and its arguments, which precede the shell; empty without a sandbox. */
  readonly wrapper: readonly string[];
  /** The input of the wrapper on descriptor 4; null for none. */
  readonly filter: Uint8Array | null;
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
}

/** How a shell command ended. */
export interface ShellEnd {
  /**
   * The exit status as a shell reports it: 128 plus the signal number for a killed command; 124 after a timeout, like
   * `timeout`.
   */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** The working folder at the end; null if it was not reported. */
  readonly folder: string | null;
  /** The processes it left in the background; null for none. */
  readonly background: CommandProcesses | null;
}

/**
 * Runs a command in a shell, in a session and process group of its own, with no terminal and no input. Resolves when
 * the shell ends, even if it leaves processes in the background. A timeout or an aborted `signal` ends the whole group.
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
  /**
   * Those that have not told their end. Of the process that would be no use: Bun says that it closed before the folder
   * was read.
   */
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

/** A piece of output, and its number of newlines, counting those left out. */
export interface QueuedOutput {
  readonly text: string;
  readonly lines: number;
}

/** How many characters may wait for the screen. */
const MAX_QUEUED = 64 * 1024;

/**
 * A queue of text for the screen: chunks are joined; what exceeds the limit is replaced by a note. Deferred output is
 * read when it is taken.
 */
export class OutputQueue {
  #waiting = '';
  #lines = 0;
  #left = 0;
  #wake: (() => void) | null = null;
  readonly #deferred = new Set<DeferredOutput>();

  add(output: string | DeferredOutput): void {
    if (output === '') return;
    if (typeof output === 'string') this.#append(output);
    else this.#deferred.add(output);
    this.#wake?.();
  }

  #append(text: string): void {
    this.#waiting += text;
    this.#lines += newlinesIn(text);
    const excess = this.#waiting.length - MAX_QUEUED;
    if (excess > 0) {
      this.#waiting = this.#waiting.slice(-MAX_QUEUED / 2);
      this.#left += excess + MAX_QUEUED / 2;
    }
  }

  #readDeferred(): void {
    for (const output of this.#deferred) {
      const { text, leftOut, leftOutLines } = output.read();
      if (leftOut > 0) this.#waiting += gap(leftOut);
      this.#lines += leftOutLines;
      this.#append(text);
    }
    this.#deferred.clear();
  }

  /** The queued text, or null. */
  take(): QueuedOutput | null {
    this.#readDeferred();
    if (this.#waiting === '') return null;
    const taken = { text: this.#left === 0 ? this.#waiting : gap(this.#left) + this.#waiting, lines: this.#lines };
    this.#waiting = '';
    this.#lines = 0;
    this.#left = 0;
    return taken;
  }

  /** Resolves when text is queued, or with `done`. */
  async next(done: Promise<unknown>): Promise<void> {
    if (this.#waiting !== '' || this.#deferred.size > 0) return;
    await Promise.race([
      done,
      new Promise<void>((resolve) => {
        this.#wake = resolve;
      }),
    ]);
    this.#wake = null;
  }
}

const gap = (characters: number): string => `\n[… ${characters} characters not shown …]\n`;
