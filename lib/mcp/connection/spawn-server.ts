import { type ChildProcess, spawn } from 'node:child_process';
import { MARK } from '../../end-processes.js';
import { BY_MODEL, ownProgram } from '../../own-programs.js';
import type { ShellCommand } from '../../shell-command.js';
import { isFile, windowsCommand } from './windows-command.js';

/** The sandbox of a program. */
export interface ConfinedProgram {
  /** The program and its arguments to put before the command. */
  readonly wrapper: readonly string[];
  /** What that reads from descriptor 4; null for nothing. */
  readonly filter: Uint8Array | null;
  readonly env: Readonly<Record<string, string>>;
  /** Call it when everything has ended. Never rejects. */
  finish(): Promise<unknown>;
}

/** A program, and the mark that identifies the processes it starts. */
export interface MarkedProgram {
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

/** Splits the environment: loader variables are set inside the sandbox, for the server's program only, because outside they could subvert the sandbox. */
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
