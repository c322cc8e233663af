import { readFileSync } from 'node:fs';
import type { World } from '../base/world.js';

/** The ways of terminals to show a picture among the text. */
type Protocol = 'kitty' | 'iterm' | 'sixel';

/** How the terminal shows pictures, by what it says of itself; null when it says nothing, or something stands between. */
function protocolOf({ TERM = '', TERM_PROGRAM = '', ...env }: World['env']): Protocol | null {
  if (TERM === 'dumb' || env.TMUX || env.STY) return null;
  if (/^(?:foot|mlterm|contour|yaft)/.test(TERM) || TERM_PROGRAM === 'mintty') return 'sixel';
  if (TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'WezTerm' || env.LC_TERMINAL === 'iTerm2') return 'iterm';
  if (TERM.startsWith('xterm-kitty') || env.KITTY_WINDOW_ID || TERM_PROGRAM === 'ghostty') return 'kitty';
  return null;
}

/** From the file of a picture to the text that shows it; null for one that cannot be shown. What takes a moment comes later. */
export type InlinePicture = (path: string, mime: string) => string | null | Promise<string | null>;

/**
 * What shows a picture in the terminal; null where it cannot. `attributes` asks the terminal what it can do (the answer to DA1, as a list of numbers), where it
 * does not say so of itself; absent where it cannot be asked.
 */
export function inlinePicture(world: World, attributes?: () => Promise<string>): InlinePicture | null {
  const { env, stderr } = world;
  if (!stderr.isTTY || env.TERM === 'dumb') return null;
  const protocol = protocolOf(env);
  if (protocol === null && (attributes === undefined || env.STY)) return null;
  return (path, mime) => {
    if (protocol === 'kitty' && mime !== 'image/png') return null;
    const bytes = readPicture(path);
    if (bytes === null) return null;
    if (protocol === 'kitty') return forKitty(bytes);
    return protocol === 'iterm' ? forIterm(bytes) : forSixel(bytes, world, protocol === null ? attributes : undefined);
  };
}

/** What a terminal with sixel graphics has among its attributes. */
const SIXEL = '4';

/** The pixels of a character as most terminals have them at least. */
const CHARACTER = { width: 8, height: 16 };

/** As sixels, where the terminal has them; a picture takes half of the screen at most. */
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
  const { sixelImageAside } = await import('../../session/images/small-image-aside.js');
  return await sixelImageAside(bytes, most, new AbortController().signal).catch(() => null);
}

function readPicture(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    // It was removed already; its path is still printed.
    return null;
  }
}

/** https://iterm2.com/documentation-images.html */
function forIterm(bytes: Buffer): string {
  return `\x1b]1337;File=inline=1;size=${bytes.length}:${bytes.toString('base64')}\x07`;
}

/** https://sw.kovidgoyal.net/kitty/graphics-protocol: a PNG in pieces of at most 4096 characters, without an answer of the terminal. */
function forKitty(bytes: Buffer): string {
  const pieces = bytes.toString('base64').match(/.{1,4096}/g) ?? [];
  return pieces
    .map((piece, at) => {
      const more = at < pieces.length - 1 ? 1 : 0;
      return `\x1b_G${at === 0 ? `a=T,f=100,q=2,m=${more}` : `m=${more}`};${piece}\x1b\\`;
    })
    .join('');
}
