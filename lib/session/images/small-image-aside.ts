import { Worker } from 'node:worker_threads';
import type { ImageSize, SmallImage } from '../../chat/media.js';
import type { ImageLimits } from '../../chat/model.js';
import type { ScalingTask } from './scaling-thread.js';

/**
 * Runs `smallImage` in a separate thread: a large picture takes seconds, during which the terminal must handle keys.
 * Rejects with an abort error as soon as `signal` aborts.
 */
export async function smallImageAside(
  bytes: Uint8Array,
  limits: ImageLimits,
  signal: AbortSignal,
): Promise<SmallImage | null> {
  return await inThread<SmallImage>({ bytes, limits }, signal);
}

/** Runs `sixelImage` in the same way. */
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
      // Bun ends a thread only between two of its own calls, so this does not wait for the end.
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('The scaling thread ended.')));
    });
  } finally {
    void worker.terminate();
  }
}
