/** The maximum number of tokens of a recalled passage, and of what stands before it. */
const PASSAGE = 160;
const HEAD = 16;

/** The maximum number of tokens that one passage takes. */
export const MOST: number = HEAD + PASSAGE;

/** An approximate upper bound of the tokens in a text: one for four letters of an alphabet, and one for any other character. */
export function tokenBound(text: string): number {
  const wide = text.match(/[^\0-\u024f]/g)?.length ?? 0;
  return Math.ceil((text.length - wide) / 4 + wide);
}

/** The number of characters of a text in a recalled passage: fewer in a script in which each is a token. */
export function passageLength(text: string): number {
  const shown = text.slice(0, 4 * PASSAGE);
  return Math.floor((shown.length * PASSAGE) / Math.max(PASSAGE, tokenBound(shown)));
}

/** The tokens that the passage of a text of so many tokens takes. */
export function passageCost(tokens: number): number {
  return HEAD + Math.min(PASSAGE, tokens);
}
