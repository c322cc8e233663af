import type { Config } from '../../config/config.js';
import { useTheme } from '../../screen/text/styled-text.js';
import type { World } from '../base/world.js';

/**
 * Applies the theme's colours to answers. Returns a function to call with whether the terminal's background is light, once
 * that is known; null if it is known already or does not matter.
 */
export function applyTheme({ theme }: Config, { env }: World): ((isLight: boolean) => void) | null {
  if (theme === 'terminal') return null;
  if (theme === 'mono') {
    useTheme('mono');
    return null;
  }
  // The 16 colours of such a terminal are all it has.
  if (!/256color|kitty|ghostty|alacritty|foot|direct/.test(env.TERM ?? '') && !env.COLORTERM) return null;
  const isLight = theme === 'auto' ? lightByVariable(env.COLORFGBG) : theme === 'light';
  const use = (light: boolean): void => useTheme(light ? 'light' : 'dark');
  if (isLight === null) return use;
  use(isLight);
  return null;
}

/** What `COLORFGBG` says, as rxvt and Konsole set it: the number of the background's colour comes last. */
function lightByVariable(value: string | undefined): boolean | null {
  const background = /(?:^|;)(\d+)$/.exec(value ?? '')?.[1];
  if (background === undefined) return null;
  return Number(background) === 7 || Number(background) > 8;
}
