import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  futimesSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import { processExists, readRegularFile, removeIfThere, requireRegularFile } from '../../disk.js';
import { HiError, systemCode } from '../../errors.js';
import { ownProgram } from '../../processes.js';
import { monotonic } from '../../waits.js';

/**
 * How often the holder sends a heartbeat, in milliseconds: much more often than the timeout of others requires, and
 * still cheap.
 */
const HEARTBEAT_INTERVAL = 500;

/** Another process revoked the lock before the work was done. Never leaves `lib/history`: the work is repeated. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/** Work under the lock is synchronous, so there is one holder at a time. */
let holder: Claim | null = null;
let lastHeartbeat = 0;

/** The claims of other work, which may have to wait for work under the lock. */
const exclusive = new Set<Claim>();

/** Runs `work` as the holder of the lock. */
export function runAsHolder<Result>(claim: Claim, work: () => Result): Result {
  holder = claim;
  lastHeartbeat = monotonic();
  try {
    return work();
  } finally {
    holder = null;
  }
}

/**
 * Shows waiting processes that the holder is alive. Long work calls it repeatedly; without the lock it does nothing.
 */
export function heartbeat(): void {
  if (holder === null || monotonic() - lastHeartbeat < HEARTBEAT_INTERVAL) return;
  lastHeartbeat = monotonic();
  holder.heartbeat();
  for (const claim of exclusive) claim.heartbeat();
}

/** Runs `work`, during which the heartbeats of the lock are those of this claim too. */
export async function asExclusive<Result>(claim: Claim, work: () => Promise<Result>): Promise<Result> {
  exclusive.add(claim);
  try {
    return await work();
  } finally {
    exclusive.delete(claim);
  }
}

/**
 * Throws `LockLost` when the lock of this process was revoked. Call it between a read and the write that depends on it.
 */
export function assertLockHeld(): void {
  if (holder?.isStanding === false) throw new LockLost();
}

/** The id of the initial process namespace on every Linux machine. Containers have others. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/**
 * The state of a named process. A process `elsewhere`, on another machine or in another container, cannot be checked.
 */
type Liveness = 'alive' | 'gone' | 'elsewhere';

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

/** Runs a program and returns its output. Throws if it cannot. */
type RunProgram = (file: string, args: readonly string[]) => string;

/** The tolerated difference, in seconds, between a process's own start time and the one that the system reports. */
const SLACK = 2;

/** The start time of this process, in the form of `startTimeOf`. Runs no program. */
export function ownStartTime(platform: NodeJS.Platform = process.platform): number {
  if (platform === 'linux') return startTimeOf(process.pid, platform) ?? 0;
  return Math.round(Date.now() / 1000 - process.uptime());
}

/**
 * The start time of a process, which distinguishes it from a later one with the same id: on Linux in kernel ticks, 0
 * for a zombie; elsewhere in seconds. Null if the system does not say.
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

/** Changes the fingerprint of an open file. The time that it sets has no meaning. */
export function touch(file: number): void {
  const now = Date.now() / 1000;
  try {
    futimesSync(file, now, now);
  } catch {
    appendByte(file);
  }
}

/** Changes whenever the owner of the file touches it; null when the file is gone. */
export function fingerprintOf(path: string): string | null {
  const found = statsAt(path);
  return found && `${found.ino}:${found.size}:${found.mtimeMs}`;
}

/** Some network file systems do not allow a time to be set. */
function appendByte(file: number): void {
  try {
    writeSync(file, '.');
  } catch {
    // Other processes will consider this one dead after a while, and it will notice.
  }
}

function statsAt(path: string): Stats | null {
  try {
    // NFS asks its server again on open; the answer of `stat` may be a minute old.
    const file = openSync(path, 'r');
    try {
      return fstatSync(file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    return systemCode(thrown) === 'ENOENT' ? null : (statSync(path, { throwIfNoEntry: false }) ?? null);
  }
}

/** The fingerprint of a file and when it was first seen, in milliseconds since boot. */
type Observation = readonly [fingerprint: string, since: number];
type Observations = Readonly<Record<string, Observation>>;

/**
 * How long, in milliseconds, these files of the folder have been unchanged, by this machine's clock and across its
 * processes. Never waits: a file that is seen for the first time counts as unchanged for 0 ms, and so does every file
 * if nothing can be written.
 */
export function unchangedFor(folder: string, names: readonly string[]): ReadonlyMap<string, number> {
  if (names.length === 0) return new Map();
  const path = join(folder, 'history.seen');
  const all = read(path);
  const now = Math.round(uptime() * 1000);
  const known = all[bootId()] ?? {};
  const seen: Record<string, Observation> = {};
  for (const name of names) {
    const fingerprint = fingerprintOf(join(folder, name));
    if (fingerprint === null) continue;
    const before = known[name];
    seen[name] = before?.[0] === fingerprint && before[1] <= now ? before : [fingerprint, now];
  }
  write(path, withoutGone(folder, { ...all, [bootId()]: { ...known, ...seen } }), all);
  return new Map(Object.entries(seen).map(([name, [, since]]) => [name, now - since]));
}

function read(path: string): Readonly<Record<string, Observations>> {
  try {
    const value: unknown = JSON.parse(readRegularFile(path).toString());
    return isObservationFile(value) ? value : {};
  } catch {
    return {};
  }
}

function isObservationFile(value: unknown): value is Readonly<Record<string, Observations>> {
  const objects = (some: unknown): some is object => typeof some === 'object' && some !== null;
  if (!objects(value)) return false;
  return Object.values(value).every(
    (seen) => objects(seen) && Object.values(seen).every((one) => Array.isArray(one) && typeof one[1] === 'number'),
  );
}

/** Without the files that are gone. */
function withoutGone(
  folder: string,
  all: Readonly<Record<string, Observations>>,
): Readonly<Record<string, Observations>> {
  const there = (seen: Observations): Observations =>
    Object.fromEntries(Object.entries(seen).filter(([name]) => existsSync(join(folder, name))));
  const kept = Object.entries(all).map(([place, seen]) => [place, there(seen)] as const);
  return Object.fromEntries(kept.filter(([, seen]) => Object.keys(seen).length > 0));
}

function write(path: string, all: object, before: object): void {
  const text = JSON.stringify(all);
  if (text === JSON.stringify(before)) return;
  try {
    requireRegularFile(path);
    writeFileSync(path, text, { mode: 0o600 });
  } catch {
    // The owners of these files then count as alive.
  }
}

/** A disk may fail once. */
const TRIES = 2;

/** The claims that this process could not remove. */
const left = new Set<string>();

/** The lock file of this process. It says that the process wants to write, or is writing. */
export class Claim {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  get isMade(): boolean {
    return this.#file !== null;
  }

  /** False once another process has revoked it. */
  get isStanding(): boolean {
    return existsSync(this.#path);
  }

  /**
   * Does nothing when another thread of this process has made it. Throws like `withdraw` if an earlier claim is still
   * there.
   */
  make(): void {
    removeLeft(this.#path);
    try {
      this.#file = openSync(this.#path, 'wx', 0o600);
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown;
    }
  }

  /** Shows other processes that this one is alive. */
  heartbeat(): void {
    if (this.#file !== null) touch(this.#file);
  }

  /**
   * Removes the claim; false when another process revoked it before. Throws a `HiError` if it cannot be removed, now
   * and in all later attempts of this process: it would wait for itself.
   */
  withdraw(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    let failure: unknown = null;
    for (let tries = 0; tries < TRIES; tries += 1) {
      try {
        unlinkSync(this.#path);
        return true;
      } catch (cause) {
        if (systemCode(cause) === 'ENOENT') return false;
        failure = cause;
      }
    }
    left.add(this.#path);
    throw notRemoved(this.#path, failure);
  }
}

/** Tries again to remove a claim that was left. */
function removeLeft(path: string): void {
  if (!left.has(path)) return;
  try {
    removeIfThere(path);
    left.delete(path);
  } catch (cause) {
    throw notRemoved(path, cause);
  }
}

const notRemoved = (path: string, cause: unknown): HiError =>
  new HiError('history', `The lock '${path}' cannot be removed (${systemCode(cause)}).`, {
    hint: 'Until this hi ends, others wait for it. Check the disk, then try again.',
    cause,
  });
