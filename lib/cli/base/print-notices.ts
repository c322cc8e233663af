import type { HistoryStore } from '../../history/store.js';
import { neutralise } from '../../screen/sanitize.js';
import type { World } from './world.js';

/** Says on stderr what the history has to tell the user and nobody told yet: that it was repaired, that a crash cut a turn short. */
export function printHistoryNotices(world: World, history: HistoryStore): void {
  printNotices(world, history.takeNotices());
}

/** Says sentences of the history on stderr. */
export function printNotices(world: World, notices: readonly string[]): void {
  for (const notice of notices) world.stderr.write(neutralise(`hi: ${notice}\n`));
}
