/** Asks the terminal for the colour of its background (OSC 11). */
export const BACKGROUND_QUERY = '\x1b]11;?\x1b\\';

/** The start of the answer. */
export const REPLY_START = '\x1b]11;';

/** The end of the answer that starts at `start`, and its colour; null while it is incomplete. */
export function backgroundReply(text: string, start: number): { readonly end: number; readonly colour: string } | null {
  const [terminator] = /\x07|\x1b\\/.exec(text.slice(start + 1)) ?? [];
  if (terminator === undefined) return null;
  const end = text.indexOf(terminator, start + 1);
  return { end: end + terminator.length, colour: text.slice(start + REPLY_START.length, end) };
}

/** Whether a colour as X11 writes it, `rgb:1e1e/2020/ffff`, is light; null if it is not a colour. */
export function isLight(colour: string): boolean | null {
  const parts = /^rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(colour)?.slice(1);
  if (parts === undefined) return null;
  const [red = 0, green = 0, blue = 0] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
}
