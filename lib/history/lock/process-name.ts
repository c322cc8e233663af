import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from '../../errors.js';

/** The first process namespace of every Linux machine has this number; only what runs in a container sees another one. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/** What can be known of a process by its name. One `elsewhere`, on another machine or in another container, cannot be asked whether it lives. */
export type Liveness = 'alive' | 'gone' | 'elsewhere';

let ownName: string | null = null;
let ownHost: string | null = null;

/** Names this process as no other is named, on this machine and on others that share the folder: `place.pid.start`. */
export function processName(): string {
  ownName ??= `${hostId()}.${process.pid}.${startTimeOf(process.pid) ?? 0}`;
  return ownName;
}

/** Whether the named process lives. */
export function livenessOf(name: string): Liveness {
  if (name === processName()) return 'alive';
  const [host, id, start] = name.split('.');
  if (host !== hostId()) return 'elsewhere';
  const pid = Number(id);
  if (!Number.isSafeInteger(pid) || !exists(pid)) return 'gone';
  const now = startTimeOf(pid);
  return now === null || start === '0' || String(now) === start ? 'alive' : 'gone';
}

/** Names this run of the machine, whose clock since the start all its containers share. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id') ?? hostId();
}

/** Process ids mean something inside one namespace of one machine. */
function hostId(): string {
  ownHost ??= hashOf(`${hostname()} ${namespaceId()}`);
  return ownHost;
}

/** Containers of two machines may have the same name and a namespace of the same number; but none outlives the kernel it runs on, so that tells them apart. */
function namespaceId(): string {
  const space = linkAt('/proc/self/ns/pid') ?? '';
  return space === FIRST_NAMESPACE
    ? `${space} ${textOf('/etc/machine-id')}`
    : `${space} ${textOf('/proc/sys/kernel/random/boot_id')}`;
}

function hashOf(text: string): string {
  return [...text]
    .reduce((sum, character) => (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0, 7)
    .toString(36);
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return systemCode(thrown) === 'EPERM';
  }
}

/** When the process began, in the kernel's ticks, which tells it from a later one with the same id. 0 when it is dead but not yet buried, null where the system does not say. */
function startTimeOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses of its own: count from the last one.
    const [state, ...rest] = fields.slice(fields.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? 0 : Number(rest[18]);
  } catch {
    return null;
  }
}
