import truncatedWidth from 'fast-string-truncated-width';

/** Longer rows of text are hard to read, in columns. */
export const LONGEST_ROW = 100;

/** The width of a text on a terminal, in columns. A tab counts as four. */
export function textWidth(text: string): number {
  // Words are short: a loop is done before a regular expression has begun.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return truncatedWidth(text.replaceAll('\t', '    ')).width;
  }
  return text.length;
}
