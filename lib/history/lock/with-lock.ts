import { HiError } from '../../errors.js';
import { LockLost } from './holder.js';
import { runLocked } from './lock.js';

/** The number of losses of the lock after which to give up with an error. */
const MOST_LOSSES = 5;

/**
 * Runs `work` under the lock, and repeats it when the lock was lost before `work` ended. With `whole` it also repeats it when the lock was lost before its
 * release: what `work` wrote may or may not be on disk then. Throws a `HiError` after too many losses.
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
  throw new HiError('history', `Another hi took over the lock of the history in '${folder}' ${MOST_LOSSES} times.`, {
    hint: 'This happens when writing stalls for ten seconds. Check the disk, then send the message again.',
  });
}
