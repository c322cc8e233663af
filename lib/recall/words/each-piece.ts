import { CHUNK_HERE, LONGEST } from './words.js';

/**
 * Calls `plain` for each word of ASCII letters with at most its first letter in upper case, and `other` for each other chunk, in order, with
 * the start and end. Most words are plain, and need no string.
 */
export function eachPiece(
  text: string,
  plain: (at: number, end: number) => void,
  other: (at: number, end: number) => void,
): void {
  for (let at = 0; at < text.length; ) {
    if (isSeparator(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = endOfLetters(text, at);
    if (end > at && end - at <= LONGEST && isEndOfPiece(text, end)) {
      plain(at, end);
      at = end;
      continue;
    }
    // Not `exec`, which creates an object for each match.
    CHUNK_HERE.lastIndex = at;
    if (CHUNK_HERE.test(text)) {
      other(at, CHUNK_HERE.lastIndex);
      at = CHUNK_HERE.lastIndex;
    } else at += 1;
  }
}

/** The end of a run of one ASCII letter of any case and lower-case ones. */
function endOfLetters(text: string, from: number): number {
  const first = text.charCodeAt(from) | 32;
  if (first < 97 || first > 122) return from;
  let end = from + 1;
  while (end < text.length && text.charCodeAt(end) > 96 && text.charCodeAt(end) < 123) end += 1;
  return end;
}

/** Whether a chunk certainly ends there, judging by ASCII characters. */
function isEndOfPiece(text: string, at: number): boolean {
  if (at >= text.length) return true;
  if (!isSeparator(text.charCodeAt(at))) return false;
  return !JOINTS.has(text.charCodeAt(at)) || at + 1 >= text.length || isSeparator(text.charCodeAt(at + 1));
}

/** The characters that join words into one name. */
const JOINTS: ReadonlySet<number> = new Set(Buffer.from(".-:@'"));

/** True for an ASCII character other than a letter, a digit or `_`. */
function isSeparator(code: number): boolean {
  if (code > 127) return false;
  const small = code | 32;
  return !(small > 96 && small < 123) && !(code > 47 && code < 58) && code !== 95;
}
