import { isDumb } from '../base/streams.js';
import type { World } from '../base/world.js';

/** What a chat is held on: a terminal, a terminal that can only print (`TERM=dumb`), or none, where each line of stdin is a turn. */
export type ChatTerminal = 'full' | 'dumb' | 'none';

export function chatTerminal(world: World): ChatTerminal {
  if (world.stdinIs !== 'terminal' || world.stdout.isTTY !== true) return 'none';
  return isDumb(world.env) ? 'dumb' : 'full';
}
