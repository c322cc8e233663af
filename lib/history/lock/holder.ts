import { monotonic } from '../../clock.js';
import type { Claim } from './claim.js';

/** How often the holder sends a heartbeat, in milliseconds: much more often than the timeout of others requires, and still cheap. */
const HEARTBEAT_INTERVAL = 500;

/** Another process revoked the lock before the work was done. Never leaves `lib/history`: the work is repeated. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/** Work under the lock is synchronous, so there is one holder at a time. */
let holder: Claim | null = null;
let lastHeartbeat = 0;

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

/** Shows waiting processes that the holder is alive. Long work calls it repeatedly; without the lock it does nothing. */
export function heartbeat(): void {
  if (holder === null || monotonic() - lastHeartbeat < HEARTBEAT_INTERVAL) return;
  lastHeartbeat = monotonic();
  holder.heartbeat();
}

/** Throws `LockLost` when the lock of this process was revoked. Call it between a read and the write that depends on it. */
export function assertLockHeld(): void {
  if (holder?.isStanding === false) throw new LockLost();
}
