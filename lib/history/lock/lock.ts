import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileNamesIn } from '../../disk.js';
import { HiError, systemCode } from '../../errors.js';
import { beginWait, monotonic, pause } from '../../waits.js';
import { PROCESS_NAME } from '../base/history-paths.js';
import { Claim, fingerprintOf, LockLost, livenessOf, processName, runAsHolder } from './holder.js';

const LOCK_PREFIX = 'history.lock.';

/** A claim that was revoked, because its process seemed dead, is renamed to begin with this. */
const REVOKED_PREFIX = 'history.lost.';

/** A remote process without a heartbeat for this long, in milliseconds, counts as dead. */
const REMOTE_TIMEOUT = 10_000;

/**
 * A live process on this machine without a heartbeat for this long, in milliseconds, is stuck: waiting for it ends with
 * an error.
 */
const LOCAL_TIMEOUT = 30_000;

/** The longest pause between two attempts, in milliseconds. */
const LONGEST_WAIT = 16;

/** How often a waiting process sends a heartbeat, in milliseconds. */
const HEARTBEAT_INTERVAL = 1000;

/**
 * Runs `work` while no other process runs its own for this folder. `work` is synchronous, so the lock is held for a few
 * writes only; longer work calls `heartbeat`.
 *
 * When no claim exists, a process creates its own, a file named after it, and lists the claims again. If its claim is
 * the only one, it holds the lock. Otherwise the smallest name keeps its claim and waits, and all others withdraw. The
 * claim of a killed process names no live process and is ignored.
 *
 * Nobody can ask a remote process whether it is alive, so it sends heartbeats: it touches its claim. A claim that stops
 * changing is revoked by renaming it. Its process may only have been suspended and must not write when it resumes. So
 * the next holder calls `fence` first, which puts everything that process has open or prepared out of its reach. The
 * resumed process checks its claim between reading and writing (`assertLockHeld`), and again at the end: `kept` is
 * false when the claim was gone by then, and what was written may or may not be in the history.
 *
 * Throws a `HiError` when another process holds the lock without a heartbeat for half a minute, `LockLost` when the
 * lock was lost before `work` was done, an abort error when `signal` or `interruptWaits` ends the wait, and a system
 * error when the folder is not writable.
 */
export async function runLocked<Result>(
  folder: string,
  fence: () => void,
  work: () => Result,
  signal?: AbortSignal,
): Promise<{ readonly result: Result; readonly kept: boolean }> {
  const name = LOCK_PREFIX + processName();
  const claim = new Claim(join(folder, name));
  const watch = new LivenessWatch();
  const wait = new LockWait();
  let lastHeartbeat = monotonic();
  try {
    for (let tries = 0; ; tries += 1) {
      let rivals = livingRivals(folder, name, watch);
      // Claiming only when nobody else does keeps out of the way of the process whose turn it is, however many wait.
      if (!claim.isMade && rivals.length === 0) {
        claim.make();
        rivals = livingRivals(folder, name, watch);
      }
      // Another process may have revoked this claim. Only a claim that still stands after the listing was visible to
      // others.
      if (claim.isMade && !claim.isStanding) claim.withdraw();
      else if (claim.isMade && rivals.length === 0) return run(folder, claim, fence, work);
      if (claim.isMade && rivals.some((other) => other < name)) claim.withdraw();
      if (monotonic() - lastHeartbeat > HEARTBEAT_INTERVAL) {
        lastHeartbeat = monotonic();
        claim.heartbeat();
      }
      wait.tryAgain(rivals[0]?.slice(LOCK_PREFIX.length));
      await pause(1 + Math.random() * Math.min(2 ** tries, LONGEST_WAIT));
      signal?.throwIfAborted();
    }
  } finally {
    wait.end();
    claim.withdraw();
  }
}

function run<Result>(folder: string, claim: Claim, fence: () => void, work: () => Result) {
  let result: Result;
  try {
    result = runAsHolder(claim, () => {
      // Listed only now: a claim that was revoked before this one was the only one is found under its new name.
      const revoked = fileNamesIn(folder).filter(isRevoked);
      if (revoked.length > 0) fence();
      for (const name of revoked) rmSync(join(folder, name), { force: true });
      return work();
    });
  } catch (thrown) {
    if (claim.withdraw()) throw thrown;
    // The failure may be due to another process writing.
    throw new LockLost('The lock was taken away.', { cause: thrown });
  }
  return { result, kept: claim.withdraw() };
}

const isClaim = (name: string): boolean =>
  name.startsWith(LOCK_PREFIX) && PROCESS_NAME.test(name.slice(LOCK_PREFIX.length));

/** Whether a process, living or dead, claims the lock. */
export const isClaimed = (folder: string): boolean => fileNamesIn(folder).some(isClaim);

/** True for a name that `revoke` gives. Other files with the prefix are not hi's. */
function isRevoked(name: string): boolean {
  const end = name.lastIndexOf('.');
  return (
    name.startsWith(REVOKED_PREFIX) &&
    PROCESS_NAME.test(name.slice(REVOKED_PREFIX.length, end)) &&
    /^[0-9a-z]{1,8}$/.test(name.slice(end + 1))
  );
}

/** The claims of other live processes. Removes those of dead ones. */
function livingRivals(folder: string, own: string, watch: LivenessWatch): readonly string[] {
  const names = fileNamesIn(folder).filter((name) => isClaim(name) && name !== own);
  return names.filter((name) => {
    const path = join(folder, name);
    const liveness = livenessOf(name.slice(LOCK_PREFIX.length));
    const unchanged = liveness === 'gone' ? null : watch.unchangedFor(path);
    if (liveness === 'gone') rmSync(path, { force: true });
    if (unchanged === null) return false;
    if (liveness === 'elsewhere' && unchanged > REMOTE_TIMEOUT) return !revoke(folder, name);
    if (unchanged > LOCAL_TIMEOUT) throw stuckError(folder, name);
    return true;
  });
}

/** Revokes the claim of a process that may resume. True if it no longer exists. */
function revoke(folder: string, name: string): boolean {
  const revoked = `${REVOKED_PREFIX}${name.slice(LOCK_PREFIX.length)}.${Math.random().toString(36).slice(2, 10)}`;
  try {
    renameSync(join(folder, name), join(folder, revoked));
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown;
  }
  return true;
}

function stuckError(folder: string, name: string): HiError {
  const pid = name.split('.').at(-2) ?? '?';
  return new HiError('history', `The history in '${folder}' is locked by process ${pid}, which does not respond.`, {
    hint: `If that is a suspended hi, resume or end it. If it is gone, remove '${join(folder, name)}'.`,
  });
}

/** The number of losses of the lock after which to give up with an error. */
const MOST_LOSSES = 5;

/**
 * Runs `work` under the lock, and repeats it when the lock was lost before `work` ended. With `whole` it also repeats
 * it when the lock was lost before its release: what `work` wrote may or may not be on disk then. `signal` ends the
 * wait for another process. Throws a `HiError` after too many losses.
 */
export async function withLock<Result>(
  folder: string,
  until: 'once' | 'whole',
  fence: () => void,
  work: () => Result,
  signal?: AbortSignal,
): Promise<Result> {
  for (let losses = 0; losses < MOST_LOSSES; losses += 1) {
    try {
      const { result, kept } = await runLocked(folder, fence, work, signal);
      if (kept || until === 'once') return result;
    } catch (thrown) {
      if (!(thrown instanceof LockLost)) throw thrown;
    }
  }
  throw new HiError('history', `Another hi took over the lock of the history in '${folder}' ${MOST_LOSSES} times.`, {
    hint: 'This happens when writing stalls for ten seconds. Check the disk, then send the message again.',
  });
}

/**
 * The most time, in milliseconds, that counts between two checks: the watching process may have been suspended together
 * with the watched one.
 */
const LONGEST_STEP = 1000;

interface Observation {
  readonly fingerprint: string;
  readonly at: number;
  /** How long it has been unchanged, in milliseconds. */
  readonly unchanged: number;
}

/**
 * Watches the heartbeats of other processes, by the clock of this process only: two machines need not agree on the
 * time.
 */
export class LivenessWatch {
  readonly #observations = new Map<string, Observation>();

  /** For how long the file at `path` was seen unchanged, in milliseconds; null when it is gone. */
  unchangedFor(path: string): number | null {
    const fingerprint = fingerprintOf(path);
    if (fingerprint === null) {
      this.#observations.delete(path);
      return null;
    }
    const at = monotonic();
    const before = this.#observations.get(path);
    const unchanged =
      before?.fingerprint === fingerprint ? before.unchanged + Math.min(at - before.at, LONGEST_STEP) : 0;
    this.#observations.set(path, { fingerprint, at, unchanged });
    return unchanged;
  }
}

/** How often a process tries to get a lock before the user is told for whom it waits. */
const SILENT_TRIES = 10;

/** Tells whom a process waits for that tries to get a lock, once it has waited for a moment. */
export class LockWait {
  #tries = 0;
  #end: (() => void) | null = null;

  /** Says that it waits once more for the process of that name. */
  tryAgain(rival: string | undefined): void {
    this.#tries += 1;
    if (rival === undefined || this.#end !== null || this.#tries < SILENT_TRIES) return;
    const who = livenessOf(rival) === 'elsewhere' ? 'hi on another machine' : `hi (process ${rival.split('.')[1]})`;
    this.#end = beginWait(`${who}, which holds the lock`);
  }

  end(): void {
    this.#end?.();
    this.#end = null;
  }
}
