/** How many tokens a text has at most, about: four characters make one, or one that is no letter of an alphabet. */
export function tokenBound(text: string): number {
  const wide = text.match(/[^\0-\u024f]/g)?.length ?? 0;
  return Math.ceil((text.length - wide) / 4 + wide);
}
