/** The text without its comments. Their newlines stay, so that line numbers do not change. A comment that is never closed is text. */
export function withoutComments(source: string): string {
  let text = '';
  let from = 0;
  for (const { start, end } of commentsIn(source)) {
    text += source.slice(from, start) + source.slice(start, end).replace(/[^\n]/g, '');
    from = end;
  }
  return text + source.slice(from);
}

/** A comment and its place in the source. */
export interface Comment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** All comments, in order. */
export function commentsIn(source: string): readonly Comment[] {
  const found: Comment[] = [];
  for (let end = 0; ; ) {
    const start = source.indexOf(OPEN, end);
    const close = start === -1 ? -1 : source.indexOf(CLOSE, start + OPEN.length);
    if (close === -1) return found;
    end = close + CLOSE.length;
    found.push({ start, end, text: source.slice(start + OPEN.length, close).trim() });
  }
}

/** The text with a backslash inserted wherever a comment would start. */
export function escapeComments(text: string): string {
  return text.replace(/<(\\*)!--/g, '<\\$1!--');
}

/** The text as it was before `escapeComments`. */
export function unescapeComments(text: string): string {
  return text.replace(/<\\(\\*)!--/g, '<$1!--');
}

/** The text with an unclosed comment escaped, so that a comment added later does not close it. */
export function withoutOpenComment(source: string): string {
  const end = commentsIn(source).at(-1)?.end ?? 0;
  return source.slice(0, end) + source.slice(end).replaceAll(OPEN, '<\\!--');
}

export function comment(text: string): string {
  return `${OPEN} ${text} ${CLOSE}`;
}

const OPEN = '<!--';
const CLOSE = '-->';
