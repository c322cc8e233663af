import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { ImageSize } from '../../chat/media.js';
import type { ImageLimits } from '../../chat/model.js';

/** The input of the thread: a picture, and what to make of it. */
export type ScalingTask =
  | { readonly bytes: Uint8Array; readonly limits: ImageLimits }
  | { readonly bytes: Uint8Array; readonly sixel: ImageSize };

/** The location of this module, which both starts the thread and runs in it. */
export const THREAD = import.meta.url;

if (!isMainThread && parentPort !== null) {
  const task: ScalingTask = workerData;
  const port = parentPort;
  void import('./small-image.js').then(({ sixelImage, smallImage }) =>
    port.postMessage('sixel' in task ? sixelImage(task.bytes, task.sixel) : smallImage(task.bytes, task.limits)),
  );
}
