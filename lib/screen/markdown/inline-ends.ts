/** A longer text is not taken for an address, in characters. */
export const LONGEST_ADDRESS = 2000;

/** How far to look for the end of a link's text and address, in characters. At most this much text waits for it. */
const LONGEST_LINK = 500;

/** A longer run of marks counts as several, in characters. */
export const LONGEST_RUN = 500;

/** Where the run of marks that starts at `at` ends. */
export function endOfRun(text: string, at: number): number {
  let end = at + 1;
  while (end - at < LONGEST_RUN && text[end] === text[at]) end += 1;
  return end;
}

/** The address of the link that starts at a bracket: empty if there is no link, null while that is not known. */
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
