/** A longer address is not one, in characters. */
export const LONGEST_ADDRESS = 2000;

/** How far the end of a link's text and address is looked for, in characters: so much text waits for it at most. */
const LONGEST_LINK = 500;

/** A longer run of marks counts as several, in characters. */
export const LONGEST_RUN = 500;

/** Where the run of marks that begins at `at` ends. */
export function endOfRun(text: string, at: number): number {
  let end = at + 1;
  while (end - at < LONGEST_RUN && text[end] === text[at]) end += 1;
  return end;
}

/** The address of the link that begins at a bracket: empty when none does, null while that is not known. */
export function addressAfter(text: string, at: number, isLast: boolean): string | null {
  const ahead = text.slice(at + 1, at + LONGEST_LINK).split('\n', 1)[0] ?? '';
  const isComplete = isLast || ahead.length < text.length - at - 1;
  const unknown = isComplete ? '' : null;
  const close = ahead.search(/[[\]]/);
  if (close === -1 || close + 1 === ahead.length) return unknown;
  if (!ahead.startsWith('](', close)) return '';
  const end = ahead.indexOf(')', close);
  return end === -1
    ? unknown
    : (ahead
        .slice(close + 2, end)
        .trim()
        .split(/\s/, 1)[0] ?? '');
}

/** Where an address in parentheses ends. */
export function endOfBracketed(text: string, at: number): number {
  const found = text.slice(at).search(/[)\n]/);
  return found === -1 ? text.length : at + found;
}

/** The last character of a text. */
export function lastCharacter(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xdc00 && last <= 0xdfff ? text.slice(-2) : text.slice(-1);
}
