/** What a terminal sends around a paste once bracketed paste is on. */
export const PASTE_START = '\x1b[200~';
export const PASTE_END = '\x1b[201~';

/**
 * The offset of the marker that ends a paste; -1 when there is none. Some terminals do not remove the marker from the text they paste, and the
 * text after a pasted marker would act as keys. So of several end markers, the last one before the next paste counts.
 */
export function findPasteEnd(text: string): number {
  const next = text.indexOf(PASTE_START);
  const end = next === -1 ? text.lastIndexOf(PASTE_END) : text.lastIndexOf(PASTE_END, next);
  return end === -1 ? text.indexOf(PASTE_END) : end;
}

/** How many characters at the end of the text may be the start of the marker. */
export function partialMarkerLength(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}

/** Terminals send the newlines of a paste as CR. A CRLF was in the copied text and is kept. */
export function normaliseNewlines(text: string): string {
  return text.replace(/\r(?!\n)/g, '\n');
}
