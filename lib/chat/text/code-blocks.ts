/** A fenced block of code in an answer. */
export interface CodeBlock {
  /** What the fence says behind its marks, such as the language; may be empty. */
  readonly info: string;
  /** What is between the fences, without the indentation of the fence and without the last newline. */
  readonly code: string;
}

/** The fenced blocks of an answer, also of one that was cut off inside its last block. Fences may be indented, as in lists, and in quotations. */
export function codeBlocks(text: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: OpenBlock | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (open === null) open = openingFence(line);
    else if (isClosing(line, open)) {
      blocks.push(closed(open));
      open = null;
    } else open.lines.push(withoutPrefix(line, open));
  }
  if (open?.lines.some((line) => line !== '')) blocks.push(closed(open));
  return blocks;
}

interface OpenBlock {
  readonly quote: string;
  readonly indent: number;
  readonly marks: string;
  readonly info: string;
  readonly lines: string[];
}

/** Blanks, marks of quotations, and marks of lists, whose item may begin with a fence. */
const PREFIX = /^((?:[ \t]{0,12}>)*)([ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)/;

function openingFence(line: string): OpenBlock | null {
  const [prefix = '', quote = '', indent = ''] = PREFIX.exec(line) ?? [];
  const [, marks, info = ''] = /^(`{3,}|~{3,})([\s\S]*)$/.exec(line.slice(prefix.length)) ?? [];
  if (marks === undefined || (marks.startsWith('`') && info.includes('`'))) return null;
  return { quote, indent: indent.length, marks, info: info.trim(), lines: [] };
}

function isClosing(line: string, { quote, marks }: OpenBlock): boolean {
  const rest = (quote === '' ? line : line.replace(/^(?:[ \t]{0,12}>)*/, '')).trim();
  return rest.length >= marks.length && rest === (marks[0] ?? '').repeat(rest.length);
}

/** The line without the marks of the quotation and at most as many blanks as the fence has before it. */
function withoutPrefix(line: string, { quote, indent }: OpenBlock): string {
  const inner = quote === '' ? line : line.replace(/^(?:[ \t]{0,12}>)*/, '');
  const blanks = /^[ \t]*/.exec(inner)?.[0].length ?? 0;
  return inner.slice(Math.min(blanks, indent));
}

const closed = ({ info, lines }: OpenBlock): CodeBlock => ({ info, code: lines.join('\n') });
