import { readFileSync } from 'node:fs';
import type { World } from './world.js';

/** The ways of terminals to show a picture among the text. */
type Protocol = 'kitty' | 'iterm';

/** How the terminal shows pictures, by what it says of itself; null when it says nothing, or something stands between. */
function protocolOf({ TERM = '', TERM_PROGRAM = '', ...env }: World['env']): Protocol | null {
  if (TERM === 'dumb' || env.TMUX || env.STY) return null;
  if (TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'WezTerm' || env.LC_TERMINAL === 'iTerm2') return 'iterm';
  if (TERM.startsWith('xterm-kitty') || env.KITTY_WINDOW_ID || TERM_PROGRAM === 'ghostty') return 'kitty';
  return null;
}

/** What shows a picture in the terminal: a function from its file to the text to write, null for a file that it cannot show. Null where no terminal can. */
export function inlinePicture({ env, stderr }: World): ((path: string, mime: string) => string | null) | null {
  const protocol = stderr.isTTY ? protocolOf(env) : null;
  if (protocol === null) return null;
  return (path, mime) => {
    if (protocol === 'kitty' && mime !== 'image/png') return null;
    const bytes = readPicture(path);
    if (bytes === null) return null;
    return protocol === 'kitty' ? forKitty(bytes) : forIterm(bytes);
  };
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
