import { listenToProgress } from '../../history/base/long-work.js';
import { ProgressLine } from './progress-line.js';
import { isDumb } from './streams.js';
import type { World } from './world.js';

let line: ProgressLine | null = null;

/** From now on, shows the progress of work on the history that takes longer than a second. */
export function showHistoryProgress(world: World): void {
  if (world.stderr.isTTY !== true || isDumb(world.env)) return;
  listenToProgress((what, done, all) => {
    if (done >= all) return erase();
    line ??= new ProgressLine(world);
    line.showShare(what, done, all);
  });
}

/** Stops showing progress, because something else uses the terminal. */
export function hideHistoryProgress(): void {
  listenToProgress(null);
  erase();
}

function erase(): void {
  line?.erase();
  line = null;
}
