import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { ImageSize } from '../../chat/media/image-size.js';
import type { ImageLimits } from '../../chat/model/vendor.js';

/** What the thread is started with: a picture, and what it is to become. */
export type ScalingTask =
  | { readonly bytes: Uint8Array; readonly limits: ImageLimits }
  | { readonly bytes: Uint8Array; readonly sixel: ImageSize };

/** Where this module is, which is both what starts the thread and what runs in it. */
export const THREAD = import.meta.url;

if (!isMainThread && parentPort !== null) {
  const task: ScalingTask = workerData;
  const port = parentPort;
  void import('./small-image.js').then(({ sixelImage, smallImage }) =>
    port.postMessage('sixel' in task ? sixelImage(task.bytes, task.sixel) : smallImage(task.bytes, task.limits)),
  );
}
