/** The first characters of a text, one fewer if the cut would split a surrogate pair: vendors reject a lone surrogate with status 400. */
export function firstCharacters(text: string, length: number): string {
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The last characters of a text, one fewer where the first of them is the second half of a surrogate pair. */
export function lastCharacters(text: string, length: number): string {
  const start = Math.max(0, text.length - length);
  return text.slice(start > 0 && isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
