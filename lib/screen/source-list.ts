import type { Source } from '../chat/source.js';
import { quantity } from '../chat/text/quantity.js';
import { linkTo } from './text/links.js';
import { neutralise } from './text/neutralise.js';

/** How a list of sources is shown. */
export interface SourceListOptions {
  /** Whether addresses are links (OSC 8). If so, a long one can be shortened. */
  readonly links: boolean;
  readonly columns: number;
}

/** The numbered list of pages that an answer cites, one per line, for the log. */
export function sourceList(sources: readonly Source[], options: SourceListOptions): string {
  const lines = sources.map((source, at) => `${at + 1}. ${entry(source, options)}`);
  return [`${quantity(sources.length, 'source')}:`, ...lines].join('\n');
}

/** The minimum length of a shortened address. */
const LEAST = 24;

function entry({ url, title }: Source, { links, columns }: SourceListOptions): string {
  const name = title === undefined ? '' : neutralise(title);
  const address = neutralise(url);
  if (!links) return name === '' ? address : `${name}  ${address}`;
  const room = Math.max(LEAST, columns - name.length - 6);
  const shown = address.length <= room ? address : `${address.slice(0, room - 1)}…`;
  return `${linkTo(neutralise(url))}${name === '' ? shown : `${name}  ${shown}`}${linkTo('')}`;
}
