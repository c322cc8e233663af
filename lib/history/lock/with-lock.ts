import { HiError } from '../../errors.js';
import { LockLost } from './holder.js';
import { runLocked } from './lock.js';

/** How often the lock may be lost before it is the user's turn to find out why. */
const MOST_LOSSES = 5;

/**
 * Runs `work` under the lock, again when the lock was taken away before it came to its end, and with `whole` also when that happened until the lock was let go:
 * what it did may then be in the folder or not. Throws a `HiError` when that happens again and again.
 */
export async function withLock<Result>(
  folder: string,
  until: 'once' | 'whole',
  fence: () => void,
  work: () => Result,
): Promise<Result> {
  for (let losses = 0; losses < MOST_LOSSES; losses += 1) {
    try {
      const { result, kept } = await runLocked(folder, fence, work);
      if (kept || until === 'once') return result;
    } catch (thrown) {
      if (!(thrown instanceof LockLost)) throw thrown;
    }
  }
  throw new HiError(
    'history',
    `Another hi took the lock of the history in '${folder}' from this one ${MOST_LOSSES} times.`,
    {
      hint: 'It does so when this one stands still for ten seconds while it writes. Look at the disk, then send it again.',
    },
  );
}
