import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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

/** Ends them all: sends SIGTERM, and SIGKILL to those still running after `timeout` milliseconds. */
export async function endProcesses(processes: CommandProcesses, timeout: number): Promise<void> {
  const deadline = Date.now() + timeout;
  signalAll(processes, 'SIGTERM');
  while (Date.now() < deadline) {
    if (!isRunning(processes)) return;
    await sleep(15);
  }
  // A process may have forked between listing and killing, so list again.
  for (let round = 0; round < 20 && isRunning(processes); round += 1) {
    signalAll(processes, 'SIGKILL');
    await sleep(10);
  }
}

/** True while one of them is running. */
export function isRunning(processes: CommandProcesses): boolean {
  return process.platform === 'linux' ? members(processes).length > 0 : isGroupThere(processes.group);
}

function isGroupThere(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

function signalAll(processes: CommandProcesses, signal: NodeJS.Signals): void {
  // The group is killed first and at once, so that no process in it can fork.
  for (const target of [-processes.group, ...(process.platform === 'linux' ? members(processes) : [])]) {
    try {
      process.kill(target, signal);
    } catch {
      // It ended meanwhile.
    }
  }
}

/** The running processes of the group or with the mark, from /proc, so on Linux only. Zombies do not count, since their parent may never wait for them. */
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
