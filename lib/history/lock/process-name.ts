import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processExists } from '../../write-aside.js';
import { isSameStart, ownStartTime, startTimeOf } from './start-time.js';

/** The id of the initial process namespace on every Linux machine. Containers have others. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/** The state of a named process. A process `elsewhere`, on another machine or in another container, cannot be checked. */
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
  if (!Number.isSafeInteger(pid) || !processExists(pid)) return 'gone';
  const now = startTimeOf(pid);
  return now === null || start === '0' || isSameStart(now, Number(start)) ? 'alive' : 'gone';
}

/** Identifies this boot of the machine. All its containers share the clock that started with it. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id') ?? hostId();
}

/** Identifies the process namespace of this machine, because process ids are unique only within it. */
function hostId(): string {
  ownHost ??= hashOf(`${hostname()} ${namespaceId()}`);
  return ownHost;
}

/** Containers on two machines may have the same name and namespace id; the boot id distinguishes them. */
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
