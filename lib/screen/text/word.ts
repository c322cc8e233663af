import type { Style } from './style.js';
import type { Run } from './styled-text.js';

/** A word of prose with the spaces before it. */
export interface Word {
  blank: Run;
  runs: Run[];
  text: string;
  /** The part of it that is written already. */
  readonly begun: string;
}

/** Words that start a block at the start of a line (CommonMark, GFM). `<` is included because it usually does. */
export const BEGINS_BLOCK =
  /^(?:[>|<]|[-*_][-*_ \t]*$|\+$|=+$|:?-+:?$|#{1,6}$|\d{1,9}[.)]$|`{3}|~{3}|\[[^\]]+\]:|\$\$)/;

/** First characters that none of these words has. */
export const SAFE_START = /^[^-+*>|<#=_\d`~:[$]/;

/** A longer word is written before its end is known, in characters. */
export const LONGEST_WORD = 4096;

/** Scripts written without spaces between words. */
export const SPACELESS =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;

export function isBlankAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

export const emptyWord = (text: string, style: Style, begun = ''): Word => ({
  blank: { text, style },
  runs: [],
  text: '',
  begun,
});

export function addText(word: Word, text: string, style: Style): void {
  word.text += text;
  if (word.runs.length === 1 && word.runs[0]?.style === style) word.runs[0] = { text: word.text, style };
  else word.runs.push({ text, style });
}

export const joined = (word: Word, next: Word): Word => ({
  blank: word.blank,
  runs: [...word.runs, next.blank, ...next.runs],
  text: word.text + next.blank.text + next.text,
  begun: word.begun,
});

/** How many characters may wait for the end of a link. */
const LONGEST_WAIT = 400;

export function isLongWait(words: readonly Word[]): boolean {
  let length = 0;
  for (const { text } of words) length += text.length;
  return length > LONGEST_WAIT;
}
