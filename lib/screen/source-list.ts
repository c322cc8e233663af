import type { Source } from '../chat/source.js';
import { quantity } from '../chat/text/quantity.js';
import { neutralise } from './text/sanitize.js';

/** Where a list of sources is shown. */
export interface SourceListOptions {
  /** Whether an address is a link of its own (OSC 8), which also lets a long one be shortened. */
  readonly links: boolean;
  readonly columns: number;
}

/** The numbered pages that an answer names, one a line, for the log. */
export function sourceList(sources: readonly Source[], options: SourceListOptions): string {
  const lines = sources.map((source, at) => `${at + 1}. ${entry(source, options)}`);
  return [`${quantity(sources.length, 'source')}:`, ...lines].join('\n');
}

/** The least of an address that is worth showing. */
const LEAST = 24;

function entry({ url, title }: Source, { links, columns }: SourceListOptions): string {
  const name = title === undefined ? '' : neutralise(title);
  const address = neutralise(url);
  if (!links) return name === '' ? address : `${name}  ${address}`;
  const room = Math.max(LEAST, columns - name.length - 6);
  const shown = address.length <= room ? address : `${address.slice(0, room - 1)}…`;
  return link(url, name === '' ? shown : `${name}  ${shown}`);
}

/** Text that leads to an address where the terminal knows how, and is plain text where it does not. */
function link(url: string, text: string): string {
  return `\x1b]8;;${encoded(url)}\x1b\\${text}\x1b]8;;\x1b\\`;
}

/** The sequence takes ASCII only. */
function encoded(url: string): string {
  return URL.canParse(url) ? new URL(url).href : encodeURI(neutralise(url));
}
