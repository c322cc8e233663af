/** Asks the terminal what it can do (DA1). */
export const ATTRIBUTES_QUERY = '\x1b[c';

/** How long the terminal may take to answer, in milliseconds. */
export const ATTRIBUTES_LIMIT = 500;

const REPLY = /\x1b\[\?([\d;]*)c/;
const REPLY_BEGINS = /\x1b\[\?[\d;]*$/;

/** The text without the terminal's answer, and the answer; null if there is none. */
export function attributesReply(text: string): { readonly rest: string; readonly attributes: string } | null {
  const found = REPLY.exec(text);
  if (found === null) return null;
  const { index } = found;
  return { rest: text.slice(0, index) + text.slice(index + found[0].length), attributes: found[1] ?? '' };
}

/** Where an incomplete answer at the end of the text starts; -1 if there is none. */
export const attributesBegin = (text: string): number => text.search(REPLY_BEGINS);
