import truncatedWidth from 'fast-string-truncated-width';

/** Rows of text that are longer are hard to read. Columns. */
export const LONGEST_ROW = 100;

/** The columns that a text takes on a terminal; a tab counts as four. */
export function textWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : truncatedWidth(text.replaceAll('\t', '    ')).width;
}
