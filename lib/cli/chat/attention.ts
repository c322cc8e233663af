import type { Config } from '../../config/config.js';
import type { World } from '../base/world.js';

const BELL = '\x07';
const NOTIFICATION = '\x1b]9;hi is waiting for you\x1b\\';

/** The sequence that calls the user back to the terminal, by `notify`: a notification if the terminal is known to show one, else the bell. */
export function attentionOf({ notify }: Config, env: World['env']): string {
  if (notify === 'off') return '';
  return notify === 'auto' && showsNotifications(env) ? NOTIFICATION : BELL;
}

function showsNotifications({ TERM = '', TERM_PROGRAM = '', ...env }: World['env']): boolean {
  if (env.TMUX || env.STY) return false;
  return ['iTerm.app', 'WezTerm', 'ghostty'].includes(TERM_PROGRAM) || TERM.startsWith('xterm-kitty');
}
