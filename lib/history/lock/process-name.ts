import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from '../../errors.js';
import { isSameStart, ownStartTime, startTimeOf } from './start-time.js';

/** The number of the first process namespace on every Linux machine; a container has another one. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/** What a process name tells. A process `elsewhere`, on another machine or in another container, cannot be asked whether it is alive. */
export type Liveness = 'alive' | 'gone' | 'elsewhere';

let ownName: string | null = null;
let ownHost: string | null = null;

/** The unique name of this process among all machines that share the folder: `host.pid.start`. */
export function processName(): string {
  ownName ??= `${hostId()}.${process.pid}.${ownStartTime()}`;
  return ownName;
}

/** Whether the named process is alive. */
export function livenessOf(name: string): Liveness {
  if (name === processName()) return 'alive';
  const [host, id, start] = name.split('.');
  if (host !== hostId()) return 'elsewhere';
  const pid = Number(id);
  if (!Number.isSafeInteger(pid) || !exists(pid)) return 'gone';
  const now = startTimeOf(pid);
  return now === null || start === '0' || isSameStart(now, Number(start)) ? 'alive' : 'gone';
}

/** Names this boot of the machine; all its containers share the clock that started with it. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id') ?? hostId();
}

/** Names the process namespace of this machine: process ids are unique within it only. */
function hostId(): string {
  ownHost ??= hashOf(`${hostname()} ${namespaceId()}`);
  return ownHost;
}

/** Containers on two machines may share a name and a namespace number; the boot id of the kernel tells them apart. */
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
