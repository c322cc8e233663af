import type { HistoryStore } from '../history/store.js';
import { neutralise } from '../screen/sanitize.js';
import type { World } from './world.js';

/** Says on stderr what the history has to tell the user and nobody told yet: that it was repaired, that a crash cut a turn short. */
export function tellNotices(world: World, history: HistoryStore): void {
  for (const notice of history.takeNotices()) world.stderr.write(neutralise(`hi: ${notice}\n`));
}
