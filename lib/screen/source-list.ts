import type { Source } from '../chat/source.js';
import { quantity } from '../chat/text/quantity.js';
import { linkTo } from './text/links.js';
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
  return `${linkTo(neutralise(url))}${name === '' ? shown : `${name}  ${shown}`}${linkTo('')}`;
}
