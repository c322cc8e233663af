import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from './failure.js';

/** A process of another machine or container cannot be asked whether it lives: what it left is believed for so long, in milliseconds. */
const FOREIGN = 10_000;

let own: string | null = null;
let here: string | null = null;

/** Names this process as no other is named, on this machine and on others that share the folder: `place.pid.start`. */
export function instance(): string {
  own ??= `${place()}.${process.pid}.${startOf(process.pid) ?? 0}`;
  return own;
}

/** True unless the named process is known to be gone. `age` tells how long ago it left its name, in milliseconds. */
export function isAlive(name: string, age: () => number): boolean {
  if (name === instance()) return true;
  const [where, id, start] = name.split('.');
  if (where !== place()) return age() < FOREIGN;
  const pid = Number(id);
  if (!Number.isSafeInteger(pid) || !answers(pid)) return false;
  const now = startOf(pid);
  return now === null || start === '0' || String(now) === start;
}

/** Process ids mean something inside one namespace of one machine. */
function place(): string {
  here ??= [...`${hostname()} ${namespace()}`]
    .reduce((sum, character) => (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0, 7)
    .toString(36);
  return here;
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return systemCode(thrown) === 'EPERM';
  }
}

/** When the process began, in the kernel's ticks, which tells it from a later one with the same id. 0 when it is dead but not yet buried, null where the system does not say. */
function startOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses of its own: count from the last one.
    const [state, ...rest] = fields.slice(fields.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? 0 : Number(rest[18]);
  } catch {
    return null;
  }
}
