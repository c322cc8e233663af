/** An approximate upper bound of the tokens in a text: one for four letters of an alphabet, and one for any other character. */
export function tokenBound(text: string): number {
  const wide = text.match(/[^\0-\u024f]/g)?.length ?? 0;
  return Math.ceil((text.length - wide) / 4 + wide);
}
