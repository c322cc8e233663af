import truncatedWidth from 'fast-string-truncated-width';

/** Rows of text that are longer are hard to read. Columns. */
export const LONGEST_ROW = 100;

/** The columns that a text takes on a terminal; a tab counts as four. */
export function textWidth(text: string): number {
  // Words are short: a loop is done before a regular expression has begun.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return truncatedWidth(text.replaceAll('\t', '    ')).width;
  }
  return text.length;
}
