import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ownProgram } from '../../own-programs.js';

/** Runs a program and returns its output. Throws if it cannot. */
export type RunProgram = (file: string, args: readonly string[]) => string;

/** The tolerated difference, in seconds, between a process's own start time and the one that the system reports. */
const SLACK = 2;

/** The start time of this process, in the form of `startTimeOf`. Runs no program. */
export function ownStartTime(platform: NodeJS.Platform = process.platform): number {
  if (platform === 'linux') return startTimeOf(process.pid, platform) ?? 0;
  return Math.round(Date.now() / 1000 - process.uptime());
}

/**
 * The start time of a process, which distinguishes it from a later one with the same id: on Linux in kernel ticks, 0 for a zombie; elsewhere in seconds. Null
 * if the system does not say.
 */
export function startTimeOf(
  pid: number,
  platform: NodeJS.Platform = process.platform,
  run: RunProgram = runProgram,
): number | null {
  try {
    if (platform === 'linux') return ticksOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const [file, args] = platform === 'win32' ? windowsQuestion(pid) : psQuestion(pid);
    const printed = run(file, args).trim();
    if (platform === 'win32') return /^\d+$/.test(printed) ? Number(printed) : null;
    const [state = '', ...started] = printed.split(/\s+/);
    const at = Date.parse(started.join(' '));
    return Number.isNaN(at) ? null : state.startsWith('Z') ? 0 : Math.round(at / 1000);
  } catch {
    return null;
  }
}

/** True if both times can belong to one process. */
export function isSameStart(one: number, other: number, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'linux' ? one === other : Math.abs(one - other) <= SLACK;
}

function ticksOf(fields: string): number {
  // The name in parentheses may contain spaces and parentheses, so fields are counted from the last parenthesis.
  const [state, ...rest] = fields.slice(fields.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? 0 : Number(rest[18]);
}

function psQuestion(pid: number): [string, readonly string[]] {
  return ['ps', ['-o', 'stat=,lstart=', '-p', String(pid)]];
}

function windowsQuestion(pid: number): [string, readonly string[]] {
  const script = `[int64]((Get-Process -Id ${pid}).StartTime.ToUniversalTime() - [datetime]'1970-01-01').TotalSeconds`;
  return ['powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script]];
}

function runProgram(file: string, args: readonly string[]): string {
  const env = { ...process.env, LC_ALL: 'C' };
  return execFileSync(ownProgram(file), [...args], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 5000,
  });
}
