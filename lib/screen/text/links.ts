/** What makes the text after it lead to an address, where the terminal knows how (OSC 8); an empty address ends that. */
export function linkTo(url: string): string {
  return `\x1b]8;;${encoded(url)}\x1b\\`;
}

/** The address as a link takes it, ASCII only; null for what is none. */
export function linkTarget(address: string): string | null {
  return /^(?:https?:\/\/|mailto:)/i.test(address) && URL.canParse(address) ? encoded(address) : null;
}

const encoded = (url: string): string => (URL.canParse(url) ? new URL(url).href : encodeURI(url.toWellFormed()));
