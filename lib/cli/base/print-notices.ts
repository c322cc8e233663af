import type { HistoryStore } from '../../history/store.js';
import { neutralise } from '../../screen/text/neutralise.js';
import type { World } from './world.js';

/** Prints the pending notices of the history on stderr: that it was repaired, that a crash cut a turn short. Each is printed once. */
export function printHistoryNotices(world: World, history: HistoryStore): void {
  printNotices(world, history.takeNotices());
}

/** Prints notices on stderr. */
export function printNotices(world: World, notices: readonly string[]): void {
  for (const notice of notices) world.stderr.write(neutralise(`hi: ${notice}\n`));
}
