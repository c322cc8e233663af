/** A Markdown heading. */
export interface Heading {
  readonly text: string;
  /** Offset of its line, in characters. */
  readonly at: number;
}

/** The headings of a Markdown text; a `#` inside a code fence does not count. */
export function headingsOf(text: string): readonly Heading[] {
  const headings: Heading[] = [];
  let isCode = false;
  for (let at = 0; at !== -1; at = nextLine(text, at)) {
    // Fast path: nearly all lines are neither a heading nor a fence.
    if (!'#`~ \t'.includes(text.charAt(at))) continue;
    const end = nextLine(text, at);
    const line = text.slice(at, end === -1 ? undefined : end - 1);
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const title = isCode ? undefined : /^#{1,6}[ \t]+(.+?)[ \t#]*$/.exec(line)?.[1];
    if (title !== undefined) headings.push({ text: title, at });
  }
  return headings;
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? -1 : end + 1;
}
