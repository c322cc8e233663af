import { readFileSync } from 'node:fs';
import type { ScreenSettings } from '../../chat/event.js';
import type { Config } from '../../config/config.js';
import { useTheme } from '../../screen/text/styled-text.js';
import { sixelImageAside } from '../../session/images/small-image-aside.js';
import type { World } from './world.js';

/** How answers are shown by the configuration. A screen reader reads what is drawn again as new, so nothing is. */
export function screenSettingsOf({ wrap, animation, screen_reader }: Config): ScreenSettings {
  if (screen_reader) return { wrap: 'terminal', waiting: 'none' };
  return { wrap, waiting: animation ? 'animated' : 'still' };
}

/**
 * Applies the theme's colours to answers. Returns a function to call with whether the terminal's background is light,
 * once that is known; null if it is known already or does not matter.
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

/** The protocols of terminals for images between lines of text. */
type Protocol = 'kitty' | 'iterm' | 'sixel';

/**
 * The protocol of the terminal according to the environment; null if that does not say, or a multiplexer is in between.
 */
function protocolOf({ TERM = '', TERM_PROGRAM = '', ...env }: World['env']): Protocol | null {
  if (TERM === 'dumb' || env.TMUX || env.STY) return null;
  if (/^(?:foot|mlterm|contour|yaft)/.test(TERM) || TERM_PROGRAM === 'mintty') return 'sixel';
  if (TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'WezTerm' || env.LC_TERMINAL === 'iTerm2') return 'iterm';
  if (TERM.startsWith('xterm-kitty') || env.KITTY_WINDOW_ID || TERM_PROGRAM === 'ghostty') return 'kitty';
  return null;
}

/**
 * The text that shows an image file in the terminal; null if it cannot be shown. A promise if converting the image
 * takes a moment.
 */
type InlineImage = (path: string, mime: string) => string | null | Promise<string | null>;

/**
 * Returns a function that shows images in the terminal; null if the terminal cannot. `attributes` asks the terminal for
 * its attributes (the answer to DA1, a list of numbers) if the environment does not name it; absent if it cannot be
 * asked.
 */
export function inlineImage(world: World, attributes?: () => Promise<string>): InlineImage | null {
  const { env, stderr } = world;
  if (!stderr.isTTY || env.TERM === 'dumb') return null;
  const protocol = protocolOf(env);
  if (protocol === null && (attributes === undefined || env.STY)) return null;
  return (path, mime) => {
    if (protocol === 'kitty' && mime !== 'image/png') return null;
    const bytes = readImage(path);
    if (bytes === null) return null;
    if (protocol === 'kitty') return forKitty(bytes);
    return protocol === 'iterm' ? forIterm(bytes) : forSixel(bytes, world, protocol === null ? attributes : undefined);
  };
}

/** The attribute of a terminal with sixel graphics. */
const SIXEL = '4';

/** The size of a character in pixels; larger in most terminals. */
const CHARACTER = { width: 8, height: 16 };

/** The image as sixels, at most half of the screen high; null if the terminal does not support them. */
async function forSixel(
  bytes: Buffer,
  { stderr }: World,
  attributes: (() => Promise<string>) | undefined,
): Promise<string | null> {
  if (attributes !== undefined && !(await attributes()).split(';').includes(SIXEL)) return null;
  const most = {
    width: CHARACTER.width * (stderr.columns || 80),
    height: Math.floor((CHARACTER.height * (stderr.rows || 24)) / 2),
  };
  return await sixelImageAside(bytes, most, new AbortController().signal).catch(() => null);
}

function readImage(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    // It is already removed. Its path is still printed.
    return null;
  }
}

/** https://iterm2.com/documentation-images.html */
function forIterm(bytes: Buffer): string {
  return `\x1b]1337;File=inline=1;size=${bytes.length}:${bytes.toString('base64')}\x07`;
}

/**
 * https://sw.kovidgoyal.net/kitty/graphics-protocol: a PNG in chunks of at most 4096 characters, without a response
 * from the terminal.
 */
function forKitty(bytes: Buffer): string {
  const pieces = bytes.toString('base64').match(/.{1,4096}/g) ?? [];
  return pieces
    .map((piece, at) => {
      const more = at < pieces.length - 1 ? 1 : 0;
      return `\x1b_G${at === 0 ? `a=T,f=100,q=2,m=${more}` : `m=${more}`};${piece}\x1b\\`;
    })
    .join('');
}
