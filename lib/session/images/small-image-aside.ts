import { Worker } from 'node:worker_threads';
import type { ImageSize } from '../../chat/media/image-size.js';
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
  return await inThread<SmallImage>({ bytes, limits }, signal);
}

/** What `sixelImage` makes of a picture, likewise. */
export async function sixelImageAside(
  bytes: Uint8Array,
  sixel: ImageSize,
  signal: AbortSignal,
): Promise<string | null> {
  return await inThread<string>({ bytes, sixel }, signal);
}

async function inThread<Result>(workerData: ScalingTask, signal: AbortSignal): Promise<Result | null> {
  const { THREAD } = await import('./scaling-thread.js');
  signal.throwIfAborted();
  const worker = new Worker(new URL(THREAD), { workerData });
  try {
    return await new Promise<Result | null>((resolve, reject) => {
      // Bun lets a thread end only between two calls of its own: nobody waits for that.
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('The thread that scales ended.')));
    });
  } finally {
    void worker.terminate();
  }
}
