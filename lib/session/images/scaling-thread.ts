import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { ImageLimits } from '../../chat/model/vendor.js';

/** What the thread is started with. */
export interface ScalingTask {
  readonly bytes: Uint8Array;
  readonly limits: ImageLimits;
}

/** Where this module is, which is both what starts the thread and what runs in it. */
export const THREAD = import.meta.url;

if (!isMainThread && parentPort !== null) {
  const { bytes, limits }: ScalingTask = workerData;
  const port = parentPort;
  void import('./small-image.js').then(({ smallImage }) => port.postMessage(smallImage(bytes, limits)));
}
