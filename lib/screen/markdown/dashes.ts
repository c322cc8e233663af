/** A longer line of dashes makes no table. */
const LONGEST = 1024;

const DASHES = /^[ \t>]*[|:-][ \t|:-]*\r?(?:\n|$)/;
const BEGINNING = /^[ \t>]*(?:[|:-][ \t|:-]*\r?)?$/;

/** Whether the line that begins at `start` may be the dashes below the head of a table, in a quotation too; null while that is not known. */
export function isAboveDashes(text: string, start: number, isLast: boolean): boolean | null {
  const line = text.slice(start, start + LONGEST);
  if (!isLast && line.length < LONGEST && BEGINNING.test(line)) return null;
  return DASHES.test(line);
}
