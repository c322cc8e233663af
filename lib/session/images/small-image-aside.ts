import { Worker } from 'node:worker_threads';
import type { ImageLimits } from '../../chat/model/vendor.js';
import type { SmallImage } from './image-limits.js';
import type { ScalingTask } from './scaling-thread.js';

/**
 * What `smallImage` makes of a picture, in a thread of its own: a large one takes seconds, in which the terminal must take keys. Rejects with an abort error
 * as soon as `signal` aborts.
 */
export async function smallImageAside(
  bytes: Uint8Array,
  limits: ImageLimits,
  signal: AbortSignal,
): Promise<SmallImage | null> {
  const { THREAD } = await import('./scaling-thread.js');
  signal.throwIfAborted();
  const workerData: ScalingTask = { bytes, limits };
  const worker = new Worker(new URL(THREAD), { workerData });
  const stop = (): void => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<SmallImage | null>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(signal.aborted ? signal.reason : new Error('The thread that scales ended.')));
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
