import { monotonic } from '../../clock.js';
import type { Wish } from './claim.js';

/** How often, in milliseconds, the lock is renewed while it is held: seldom enough to cost nothing, and many times in what others wait for a sign of life. */
const BEAT = 500;

/** The lock was taken away from this process, which others had to think dead, before it had done its work. Never leaves this folder: the work is done again. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/** Work under the lock is synchronous: there is one at a time. */
let held: Wish | null = null;
let last = 0;

/** Runs `work` as the holder of that lock. */
export function holding<Result>(wish: Wish, work: () => Result): Result {
  held = wish;
  last = monotonic();
  try {
    return work();
  } finally {
    held = null;
  }
}

/** Shows whoever waits for the lock that its holder lives. Long work calls it again and again; without a lock it does nothing. */
export function beat(): void {
  if (held === null || monotonic() - last < BEAT) return;
  last = monotonic();
  held.renew();
}

/** Throws `LockLost` when the lock that this process holds was taken from it. To be called between reading what a write rests on and that write. */
export function assertHeld(): void {
  if (held?.stands === false) throw new LockLost();
}
