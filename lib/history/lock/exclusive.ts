import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileNamesIn } from '../../disk.js';
import { HiError } from '../../errors.js';
import { pause } from '../../waits.js';
import { PROCESS_NAME } from '../base/history-paths.js';
import { asExclusive, Claim, livenessOf, processName } from './holder.js';
import { LivenessWatch, LockWait } from './lock.js';

/** How often the holder sends a heartbeat, in milliseconds. */
const HEARTBEAT_INTERVAL = 500;

/**
 * After this long without a heartbeat, in milliseconds, a remote process counts as dead; a local one counts as stuck
 * after the longer time.
 */
const REMOTE_TIMEOUT = 10_000;
const LOCAL_TIMEOUT = 30_000;

/** The pause between two attempts, in milliseconds. */
const WAIT = 25;

/**
 * Runs `work`, which may take as long as a request, while no other process runs work of the same name in this folder.
 * This is the lock of the history without the fence: if a process was wrongly considered dead and resumes, its work is
 * done twice. Throws a `HiError` when a process of this machine holds the lock without a heartbeat for half a minute,
 * an abort error when `interruptWaits` ends the wait.
 */
export async function runExclusive<Result>(folder: string, name: string, work: () => Promise<Result>): Promise<Result> {
  const prefix = `${name}.lock.`;
  const own = prefix + processName();
  const claim = new Claim(join(folder, own));
  const watch = new LivenessWatch();
  const wait = new LockWait();
  const rivals = (): readonly string[] => livingRivals(folder, prefix, own, watch);
  try {
    for (;;) {
      if (!claim.isMade && rivals().length === 0) claim.make();
      const others = rivals();
      if (claim.isMade && claim.isStanding && others.length === 0) {
        wait.end();
        return await withHeartbeat(claim, work);
      }
      // The smallest name keeps its claim and waits; all others withdraw.
      if (claim.isMade && (!claim.isStanding || others.some((other) => other < own))) claim.withdraw();
      claim.heartbeat();
      wait.tryAgain(others[0]?.slice(prefix.length));
      await pause(WAIT * (1 + Math.random()));
    }
  } finally {
    wait.end();
    claim.withdraw();
  }
}

async function withHeartbeat<Result>(claim: Claim, work: () => Promise<Result>): Promise<Result> {
  const beating = setInterval(() => claim.heartbeat(), HEARTBEAT_INTERVAL);
  try {
    return await asExclusive(claim, work);
  } finally {
    clearInterval(beating);
  }
}

/** The claims of other live processes. Removes those of dead ones. */
function livingRivals(folder: string, prefix: string, own: string, watch: LivenessWatch): readonly string[] {
  return fileNamesIn(folder)
    .filter((name) => name !== own && name.startsWith(prefix) && PROCESS_NAME.test(name.slice(prefix.length)))
    .filter((name) => {
      const path = join(folder, name);
      const liveness = livenessOf(name.slice(prefix.length));
      const unchanged = liveness === 'gone' ? null : watch.unchangedFor(path);
      if (liveness === 'gone' || (liveness === 'elsewhere' && (unchanged ?? 0) > REMOTE_TIMEOUT))
        rmSync(path, { force: true });
      else if (unchanged !== null && unchanged > LOCAL_TIMEOUT) throw stuck(path);
      else return unchanged !== null;
      return false;
    });
}

const stuck = (path: string): HiError =>
  new HiError('usage', `A process that does not respond holds the lock '${path}'.`, {
    hint: 'If that is a suspended hi, resume or end it. If it is gone, remove the file.',
  });
