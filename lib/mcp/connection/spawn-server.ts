import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { makeFolder } from '../../disk.js';
import { BY_MODEL, type CommandProcesses, MARK, ownProgram, type ShellCommand } from '../../processes.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { harmlessText } from '../base/harmless-text.js';

/** The sandbox of a program. */
export interface ConfinedProgram {
  /** The program and its arguments to put before the command. */
  readonly wrapper: readonly string[];
  /** The input of the wrapper on descriptor 4; null for none. */
  readonly filter: Uint8Array | null;
  readonly env: Readonly<Record<string, string>>;
  /** Call it when everything has ended. Never rejects. */
  finish(): Promise<unknown>;
}

/** A program, and the mark that identifies the processes it starts. */
interface MarkedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly mark: string;
}

/** Windows has no groups, and would open a console. */
const OWN_GROUP = { detached: process.platform !== 'win32', windowsHide: true };

/** Starts a server's program with three pipes, in its sandbox if it has one. */
export function spawned(start: MarkedProgram, confined: ConfinedProgram | null): ChildProcess {
  const { command, args, env, cwd, mark } = start;
  const own = { cwd, ...OWN_GROUP };
  if (confined === null) {
    const { file, args: words, options } = startedBy(start);
    return spawn(file, words, { ...own, ...options, env: { ...env, [MARK]: mark, [BY_MODEL]: '1' }, stdio: 'pipe' });
  }
  const { wrapper, filter } = confined;
  const { outside, inside } = parted({ ...env, ...confined.env });
  const [program = command, ...words] = [...wrapper, '/usr/bin/env', ...inside, command, ...args];
  const child = spawn(program, words, {
    ...own,
    env: { ...outside, [MARK]: mark, [BY_MODEL]: '1' },
    stdio: ['pipe', 'pipe', 'pipe', 'ignore', filter === null ? 'ignore' : 'pipe'],
  });
  give(child.stdio[4], filter);
  return child;
}

function startedBy({ command, args, env, cwd }: MarkedProgram): ShellCommand {
  if (process.platform !== 'win32') return { file: ownProgram(command, env), args, options: {} };
  return windowsCommand(command, args, { env: { ...process.env, ...env }, cwd, isFile });
}

/** Variables that determine where programs are found, or what is loaded into them. */
const OF_THE_LOADER = /^(?:PATH|LD_.*|DYLD_.*|GLIBC_TUNABLES)$/;

/**
 * Splits the environment: loader variables are set inside the sandbox, for the server's program only, because outside
 * they could subvert the sandbox.
 */
function parted(env: Readonly<Record<string, string>>) {
  const variables = Object.entries(env);
  const outside = variables.filter(([name]) => !OF_THE_LOADER.test(name));
  return {
    outside: { ...Object.fromEntries(outside), PATH: process.env.PATH ?? '' },
    inside: variables.filter(([name]) => OF_THE_LOADER.test(name)).map(([name, value]) => `${name}=${value}`),
  };
}

function give(stream: ChildProcess['stdio'][number] | undefined, bytes: Uint8Array | null): void {
  if (bytes === null || !stream || !('end' in stream)) return;
  // A wrapper that cannot start does not read its input, and reports the error itself.
  stream.on('error', () => {});
  stream.end(bytes);
}

/** The parts of the system that determine which program is found. Specs pass their own. */
interface ProgramSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  isFile(path: string): boolean;
}

const USUAL_EXTENSIONS = '.COM;.EXE;.BAT;.CMD';

/**
 * How Windows starts a program of an MCP server. Node finds only `.exe` and `.com` files by their names, but `npx`,
 * `npm` and most other commands are `.cmd` files, which it refuses to start without a shell. A program that is not
 * found stays as it is.
 */
export function windowsCommand(command: string, args: readonly string[], search: ProgramSearch): ShellCommand {
  const found = programFile(command, search);
  if (found === null || !/\.(?:cmd|bat)$/i.test(found))
    return { file: found ?? command, args, options: { windowsHide: true } };
  const line = [escaped(found), ...args.map(escapedArgument)].join(' ');
  return {
    file: variable(search.env, 'ComSpec') || 'cmd.exe',
    args: ['/d', '/s', '/c', `"${line}"`],
    options: { windowsVerbatimArguments: true, windowsHide: true },
  };
}

/** True for a regular file. Never throws. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

/**
 * The file of a program: the first in PATH with one of the extensions of PATHEXT. Unlike `cmd.exe`, it does not begin
 * in the working folder.
 */
function programFile(command: string, { env, cwd, isFile }: ProgramSearch): string | null {
  const extensions = (variable(env, 'PATHEXT') || USUAL_EXTENSIONS).split(';').filter((extension) => extension !== '');
  const folders = /[\\/:]/.test(command) ? [cwd] : (variable(env, 'PATH') ?? '').split(';').filter(win32.isAbsolute);
  const own = win32.extname(command).toLowerCase();
  const hasOwn = extensions.some((extension) => extension.toLowerCase() === own);
  for (const folder of folders)
    for (const extension of [...(hasOwn ? [''] : []), ...extensions]) {
      const file = win32.resolve(folder, command) + extension;
      if (isFile(file)) return file;
    }
  return null;
}

/** The names of variables have no case on Windows. */
function variable(env: ProgramSearch['env'], name: string): string | undefined {
  const key = Object.keys(env).find((other) => other.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

/** Twice, because the file passes its arguments on, and `cmd.exe` reads that line, too. */
function escapedArgument(arg: string): string {
  // A program reads `\"` as a quote, and backslashes before one in pairs.
  const inner = arg.split('"').map(withPairs).join('\\"');
  return escaped(escaped(`"${inner}"`));
}

/** Doubles the backslashes at the end. */
function withPairs(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\\') end -= 1;
  return text + text.slice(end);
}

function escaped(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
}

/**
 * Waits for the end of its input, which comes when hi exits for whatever reason, and then ends what it guards: the
 * group, and processes that left the group but carry the mark. A line of input means that hi has done so itself.
 */
const SCRIPT = `group=$1 mark=$2
read -r line && exit
every() { kill "-$1" -- "-$group"; kill "-$1" $(grep -la -- "$mark" /proc/[0-9]*/environ | cut -d/ -f3); }
{ every TERM; sleep 0.3; every KILL; } 2>/dev/null`;

/** Makes sure that a server does not outlive hi, even if hi is killed. Needs a shell. */
export class Guardian {
  readonly #shell: ChildProcess;

  constructor({ group, mark }: CommandProcesses) {
    // Not in its environment, or it would find itself by the mark.
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(group), `${MARK}=${mark}`], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      // A signal to hi's group must not end the guardian.
      detached: true,
    });
    this.#shell.on('error', () => {});
    this.#shell.stdin?.on('error', () => {});
    this.#shell.unref();
  }

  /** The server has ended. */
  dismiss(): void {
    this.#shell.stdin?.end('\n');
  }
}

/** A longer log is rotated, replacing the previously rotated one. */
const LONGEST = 1024 * 1024;

/** The part of the log shown with a failure. */
const SHOWN_LINES = 5;
const SHOWN_CHARACTERS = 1000;

/** The output of a server that is not a message. It is never shown unasked. */
export class ServerLog {
  readonly path: string;
  readonly #folder: string;
  #descriptor: number | null = null;
  #length = 0;
  #last = '';
  #ended: string | null = null;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.path = join(folder, `${encodeURIComponent(name)}.log`);
  }

  /** A new process starts; earlier output is not its own. */
  begin(): void {
    this.#last = '';
    this.#ended = null;
  }

  /** The process ended by itself. */
  end(code: number | null, signal: string | null): void {
    this.#ended = signal === null ? `It exited with status ${code}.` : `It was ended by ${signal}.`;
  }

  /** How the process ended by itself, as a sentence; null if it runs or was told to end. */
  get ended(): string | null {
    return this.#ended;
  }

  write(chunk: Buffer | string): void {
    this.#last = (this.#last + chunk.toString()).slice(-4 * SHOWN_CHARACTERS);
    try {
      this.#open();
      if (this.#descriptor !== null) this.#length += writeSync(this.#descriptor, neutralise(chunk.toString()));
    } catch {
      // A full disk must only affect the log.
    }
  }

  /** The last lines of the latest process, for the user; empty for none. */
  get lastLines(): string {
    const lines = stripVTControlCharacters(this.#last)
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '');
    return harmlessText(lines.slice(-SHOWN_LINES).join('\n'), SHOWN_CHARACTERS);
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #open(): void {
    if (this.#descriptor !== null && this.#length < LONGEST) return;
    if (this.#descriptor !== null) {
      this.close();
      renameSync(this.path, `${this.path}.old`);
    }
    makeFolder(this.#folder, 0o700);
    this.#descriptor = openSync(this.path, 'a', 0o600);
    this.#length = 0;
  }
}

/** Matches the names of the logs of servers, and of no other files of their folder. */
export const LOGS = /\.log(?:\.old)?$/;
