import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownProgram } from './own-programs.js';

/** The environment variable that marks the processes of a command, to find those that left its process group. */
export const MARK = 'HI_COMMAND';

const session = `${process.pid}-${randomBytes(6).toString('hex')}.`;
let count = 0;

/** A new mark for one command. */
export function newMark(): string {
  count += 1;
  return `${session}${count}.`;
}

/** The processes of one command: its group, and those that left the group but carry its mark. */
export interface CommandProcesses {
  readonly group: number;
  readonly mark: string;
}

/** How the processes of a command are found and ended on one system. A spec passes its own. */
export interface ProcessSystem {
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
export type Printed = (file: string, args: readonly string[]) => string;

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
