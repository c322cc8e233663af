import type { ScreenSettings } from '../../chat/event.js';
import type { Config } from '../../config/config.js';

/** How answers are shown by the configuration. A screen reader reads what is drawn again as new, so nothing is. */
export function screenSettingsOf({ wrap, animation, screen_reader }: Config): ScreenSettings {
  if (screen_reader) return { wrap: 'terminal', waiting: 'none' };
  return { wrap, waiting: animation ? 'animated' : 'still' };
}
