/** A longer delimiter row does not make a table, in characters. */
const LONGEST = 1024;

const DASHES = /^[ \t>]*[|:-][ \t|:-]*\r?(?:\n|$)/;
const BEGINNING = /^[ \t>]*(?:[|:-][ \t|:-]*\r?)?$/;

/** Whether the line that starts at `start` may be the delimiter row of a table, also within a quotation; null while that is not known. */
export function isAboveDashes(text: string, start: number, isLast: boolean): boolean | null {
  const line = text.slice(start, start + LONGEST);
  if (!isLast && line.length < LONGEST && BEGINNING.test(line)) return null;
  return DASHES.test(line);
}
