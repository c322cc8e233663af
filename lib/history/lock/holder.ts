import { monotonic } from '../../clock.js';
import type { Claim } from './claim.js';

/** How often, in milliseconds, the lock is renewed while it is held: seldom enough to cost nothing, and many times in what others wait for a sign of life. */
const HEARTBEAT_INTERVAL = 500;

/** The lock was taken away from this process, which others had to think dead, before it had done its work. Never leaves this folder: the work is done again. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/** Work under the lock is synchronous: there is one at a time. */
let holder: Claim | null = null;
let lastHeartbeat = 0;

/** Runs `work` as the holder of that lock. */
export function runAsHolder<Result>(claim: Claim, work: () => Result): Result {
  holder = claim;
  lastHeartbeat = monotonic();
  try {
    return work();
  } finally {
    holder = null;
  }
}

/** Shows whoever waits for the lock that its holder lives. Long work calls it again and again; without a lock it does nothing. */
export function heartbeat(): void {
  if (holder === null || monotonic() - lastHeartbeat < HEARTBEAT_INTERVAL) return;
  lastHeartbeat = monotonic();
  holder.heartbeat();
}

/** Throws `LockLost` when the lock that this process holds was taken from it. To be called between reading what a write rests on and that write. */
export function assertLockHeld(): void {
  if (holder?.isStanding === false) throw new LockLost();
}
