import { neutralise } from '../screen/sanitize.js';
import type { World } from './world.js';

/** Says on stderr what the history has to tell the user: that it was repaired, that a crash cut a turn short. */
export function tellNotices(world: World, notices: readonly string[]): void {
  for (const notice of notices) world.stderr.write(neutralise(`hi: ${notice}\n`));
}
