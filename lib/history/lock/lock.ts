import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { monotonic } from '../../clock.js';
import { HiError, systemCode } from '../../errors.js';
import { fileNamesIn } from '../../remove-files.js';
import { PROCESS_NAME } from '../base/history-paths.js';
import { Claim } from './claim.js';
import { LockLost, runAsHolder } from './holder.js';
import { LivenessWatch } from './liveness-watch.js';
import { livenessOf, processName } from './process-name.js';

const LOCK_PREFIX = 'history.lock.';

/** What the wish of a process is renamed to that was taken for dead. */
const REVOKED_PREFIX = 'history.lost.';

/** A process elsewhere that was seen to do nothing for so long, in milliseconds, counts as dead. */
const REMOTE_TIMEOUT = 10_000;

/** A process of this machine that lives and does nothing for so long, in milliseconds, is not waited for any longer. */
const LOCAL_TIMEOUT = 30_000;

/** How long, in milliseconds, one that waits may look away. */
const LONGEST_WAIT = 16;

/** How often, in milliseconds, one that waits shows that it lives. */
const HEARTBEAT_INTERVAL = 1000;

/**
 * Runs `work` while no other process runs its own for this folder. `work` is synchronous, so the lock is held for its few writes and nothing else;
 * what takes longer calls `beat`.
 *
 * Where nobody wishes, each process marks its wish with a file of its own name, then looks who else did: alone, it holds the lock; else the smallest
 * name keeps its wish and waits, the others withdraw. Whoever is killed leaves a name that belongs to no living process and binds nobody.
 *
 * A process elsewhere cannot be asked whether it lives: it renews its wish, and where that is seen not to change it counts as dead. Should it only have stood
 * still, it must not write when it wakes up. So its wish is renamed, and before anybody works again `takeOver` puts what it may have open or ready out of its
 * reach. It looks for its wish (`assertHeld`) after it read and before it writes, and once more when it is done: `kept` is false when the wish was gone by then, and
 * what was written may be in the history or not.
 *
 * Throws a `HiError` when another process holds it and does nothing for half a minute, `LockLost` when the lock was lost before `work` was done, and what the
 * system throws when the folder cannot be written.
 */
export async function runLocked<Result>(
  folder: string,
  fence: () => void,
  work: () => Result,
): Promise<{ readonly result: Result; readonly kept: boolean }> {
  const name = LOCK_PREFIX + processName();
  const claim = new Claim(join(folder, name));
  const watch = new LivenessWatch();
  let lastHeartbeat = monotonic();
  try {
    for (let tries = 0; ; tries += 1) {
      let rivals = livingRivals(folder, name, watch);
      // Who wishes only where nobody does stays out of the way of the one whose turn it is, however many wait.
      if (!claim.isMade && rivals.length === 0) {
        claim.make();
        rivals = livingRivals(folder, name, watch);
      }
      // Somebody may have thought this process dead. Only a wish that stands after the look was seen by whoever looked meanwhile.
      if (claim.isMade && !claim.isStanding) claim.withdraw();
      else if (claim.isMade && rivals.length === 0) return run(folder, claim, fence, work);
      if (claim.isMade && rivals.some((other) => other < name)) claim.withdraw();
      if (monotonic() - lastHeartbeat > HEARTBEAT_INTERVAL) {
        lastHeartbeat = monotonic();
        claim.heartbeat();
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * Math.min(2 ** tries, LONGEST_WAIT)));
    }
  } finally {
    claim.withdraw();
  }
}

function run<Result>(folder: string, claim: Claim, fence: () => void, work: () => Result) {
  try {
    const result = runAsHolder(claim, () => {
      // Looked for only now: a wish that was renamed before this one stood alone is found under its new name.
      const revoked = fileNamesIn(folder).filter(isRevoked);
      if (revoked.length > 0) fence();
      for (const name of revoked) rmSync(join(folder, name), { force: true });
      return work();
    });
    return { result, kept: claim.withdraw() };
  } catch (thrown) {
    if (claim.withdraw()) throw thrown;
    // Whatever went wrong may have done so because another process is at work.
    throw new LockLost('The lock was taken away.', { cause: thrown });
  }
}

const isClaim = (name: string): boolean =>
  name.startsWith(LOCK_PREFIX) && PROCESS_NAME.test(name.slice(LOCK_PREFIX.length));

/** As `disown` names them; whatever else begins so is somebody else's. */
function isRevoked(name: string): boolean {
  const end = name.lastIndexOf('.');
  return (
    name.startsWith(REVOKED_PREFIX) &&
    PROCESS_NAME.test(name.slice(REVOKED_PREFIX.length, end)) &&
    /^[0-9a-z]{1,8}$/.test(name.slice(end + 1))
  );
}

/** The other names of processes that live. What dead ones left is cleared away. */
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

/** Takes the wish of a process away that may wake up again; true when it is gone. */
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
  return new HiError('history', `The history in '${folder}' is held by the process '${pid}', which does not let go.`, {
    hint: `If that is a stopped hi, continue or end it; if it is gone, remove '${join(folder, name)}'.`,
  });
}
