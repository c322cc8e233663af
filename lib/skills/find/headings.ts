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
    const title = isCode ? undefined : titleOf(line);
    if (title !== undefined) headings.push({ text: title, at });
  }
  return headings;
}

function titleOf(line: string): string | undefined {
  const rest = /^#{1,6}[ \t](.*)$/s.exec(line)?.[1]?.trimStart();
  if (rest === undefined || rest === '') return undefined;
  let end = rest.length;
  while (end > 1 && ' \t\r#'.includes(rest.charAt(end - 1))) end -= 1;
  return rest.slice(0, end);
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? -1 : end + 1;
}
