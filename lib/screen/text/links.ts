/** The sequence that makes the text after it a link, on terminals that support it (OSC 8). An empty address ends the link. */
export function linkTo(url: string): string {
  return `\x1b]8;;${encoded(url)}\x1b\\`;
}

/** The address in the form links need, ASCII only; null if it is not an address. */
export function linkTarget(address: string): string | null {
  return /^(?:https?:\/\/|mailto:)/i.test(address) && URL.canParse(address) ? encoded(address) : null;
}

const encoded = (url: string): string => (URL.canParse(url) ? new URL(url).href : encodeURI(url.toWellFormed()));
