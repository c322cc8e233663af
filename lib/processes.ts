import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { constants, homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Set in the environment of everything that hi starts for the model: what these run was not typed by the user. */
export const BY_MODEL = 'HI_BY_MODEL';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where programs are searched for if PATH is not set, and a folder that nobody has: starting a program there fails as
 * it does for a missing one.
 */
const USUAL_PATH = '/usr/bin:/bin';
const NOWHERE = '/usr/lib/no-such-folder';

/**
 * The absolute path of a program that hi starts itself: found in PATH, but not in the project, whose files somebody
 * else may have written, and not relative to the working folder. Where there is none, nothing is at the path. A name
 * with a slash is returned as it is, and so is any on Windows.
 */
export function ownProgram(name: string, env: Environment = process.env): string {
  if (process.platform === 'win32' || name.includes('/')) return name;
  return (
    ownFolders(env)
      .find((folder) => isProgram(join(folder, name)))
      ?.concat('/', name) ?? join(NOWHERE, name)
  );
}

/** The environment for a command line of the user's own in which the same holds for every name. */
export function ownEnvironment(env: Environment = process.env): Record<string, string | undefined> {
  return process.platform === 'win32' ? { ...env } : { ...env, PATH: ownFolders(env).join(delimiter) || NOWHERE };
}

/** The folders in PATH that are neither relative nor in the project. */
function ownFolders({ PATH = USUAL_PATH }: Environment): readonly string[] {
  const project = projectFolder();
  const isOfProject = (folder: string): boolean => project !== null && isWithin(project, real(folder));
  return PATH.split(delimiter).filter((folder) => isAbsolute(folder) && !isOfProject(folder));
}

/**
 * The working folder, or the repository that it is in. Null where that has the user's own programs too, as the home
 * folder.
 */
function projectFolder(): string | null {
  const home = real(homedir());
  const here = real(process.cwd());
  let project = here;
  for (let folder = here; !isWithin(folder, home); folder = dirname(folder))
    if (existsSync(join(folder, '.git'))) project = folder;
  return isWithin(project, home) ? null : project;
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isProgram(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() && (found.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** A program with its arguments, as `spawn` takes them. */
export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Windows: the command line is passed on as it is. */
  readonly options: { readonly windowsVerbatimArguments?: true; readonly windowsHide?: true };
}

/** What of the system chooses the shell. */
interface ShellSystem {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A command line of the user's own, such as a key command, a pager or an editor with its options, for the system's
 * shell; with `args` behind it, each one word whatever is in it. `shell` is the one the user has chosen.
 */
export function shellCommand(
  command: string,
  args: readonly string[] = [],
  { platform, env }: ShellSystem = process,
  shell = '/bin/sh',
): ShellCommand {
  if (platform !== 'win32') {
    const rest = args.length === 0 ? [command] : [`${command} "$@"`, 'sh', ...args];
    return { file: shell, args: ['-c', ...rest], options: {} };
  }
  // `/s` removes the outer quotes and nothing else.
  const line = [command, ...args.map((arg) => `"${arg}"`)].join(' ');
  const options = { windowsVerbatimArguments: true, windowsHide: true } as const;
  return { file: env.ComSpec || 'cmd.exe', args: ['/d', '/s', '/c', `"${line}"`], options };
}

/** The signals that ask the program to exit. */
export const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The exit status after a signal: 128 plus its number, as in shells. */
export function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** The environment variable that marks the processes of a command, to find those that left its process group. */
export const MARK = 'HI_COMMAND';

/** A new mark for one command. It is no part of another one. */
/** A new mark for one command. */
export function newMark(): string {
  return `${process.pid}-${randomBytes(9).toString('hex')}.`;
}

/** The processes of one command: its group, and those that left the group but carry its mark. */
export interface CommandProcesses {
  readonly group: number;
  readonly mark: string;
}

/** How the processes of a command are found and ended on one system. A spec passes its own. */
interface ProcessSystem {
  isRunning(processes: CommandProcesses): boolean;
  signal(processes: CommandProcesses, signal: 'SIGTERM' | 'SIGKILL'): void;
  /** How long it takes until it is worth looking again, in milliseconds. */
  readonly pause: number;
}

/** Ends them all: sends SIGTERM, and SIGKILL to those still running after `timeout` milliseconds. */
export async function endProcesses(
  processes: CommandProcesses,
  timeout: number,
  system: ProcessSystem = processSystem(),
): Promise<void> {
  const deadline = Date.now() + timeout;
  system.signal(processes, 'SIGTERM');
  while (Date.now() < deadline) {
    if (!system.isRunning(processes)) return;
    await sleep(system.pause);
  }
  // A process may have forked between listing and killing, so list again.
  for (let round = 0; round < 20 && system.isRunning(processes); round += 1) {
    system.signal(processes, 'SIGKILL');
    await sleep(10);
  }
}

/** True while one of them is running. */
export function isRunning(processes: CommandProcesses, system: ProcessSystem = processSystem()): boolean {
  return system.isRunning(processes);
}

/** Runs a program and returns what it printed, nothing where it fails. */
type Printed = (file: string, args: readonly string[]) => string;

/** How that system does it. `run` and `kill` are the process's own, unless a spec passes others. */
export function processSystem(
  platform: NodeJS.Platform = process.platform,
  run: Printed = printed,
  kill: (pid: number, signal: NodeJS.Signals | 0) => void = (pid, signal) => void process.kill(pid, signal),
): ProcessSystem {
  if (platform === 'win32') return windows(run, kill);
  // Elsewhere than on Linux `ps` tells who carries the mark, which takes longer.
  const list = platform === 'linux' ? members : (processes: CommandProcesses) => membersIn(run('ps', PS), processes);
  return {
    pause: platform === 'linux' ? 15 : 60,
    isRunning: (processes) => list(processes).length > 0,
    signal(processes, signal) {
      // The group is killed first and at once, so that no process in it can fork.
      for (const target of [-processes.group, ...list(processes)]) attempt(() => kill(target, signal));
    },
  };
}

/**
 * Windows has no process groups and no SIGTERM for programs without a window. The descendants of the shell are ended at
 * once, while the shell still exists.
 */
function windows(run: Printed, kill: (pid: number, signal: 0) => void): ProcessSystem {
  return {
    pause: 30,
    isRunning: ({ group }) => attempt(() => kill(group, 0)),
    signal: ({ group }) => void run('taskkill.exe', ['/PID', String(group), '/T', '/F']),
  };
}

/** Whether it could be done: the process may have ended meanwhile. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Every process with its group, its state, its command and, of the user's own, its environment. */
const PS = ['-A', '-ww', '-E', '-o', 'pid=,pgid=,stat=,command='];

/** The running processes of the group or with the mark in what `ps` printed. */
export function membersIn(listing: string, { group, mark }: CommandProcesses): readonly number[] {
  const needle = `${MARK}=${mark}`;
  return listing.split('\n').flatMap((line) => {
    const [pid, its, state = 'Z', ...command] = line.trim().split(/\s+/);
    if (state.startsWith('Z') || Number(pid) === process.pid) return [];
    return Number(its) === group || command.some((word) => word.includes(needle)) ? [Number(pid)] : [];
  });
}

function printed(file: string, args: readonly string[]): string {
  return (
    spawnSync(ownProgram(file), [...args], { encoding: 'utf8', windowsHide: true, maxBuffer: 64 * 1024 * 1024 })
      .stdout ?? ''
  );
}

/**
 * The running processes of the group or with the mark, from /proc, so on Linux only. Zombies do not count, since their
 * parent may never wait for them.
 */
function members({ group, mark }: CommandProcesses): number[] {
  const needle = `${MARK}=${mark}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter(
      (name) =>
        isMember(readOrEmpty(`/proc/${name}/stat`), group) || readOrEmpty(`/proc/${name}/environ`).includes(needle),
    )
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

// The program name, in parentheses, may contain any character; state, parent and group follow the last one.
function isMember(stat: string, group: number): boolean {
  const [state, , its] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(its) === group && state !== 'Z' && state !== 'X';
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
