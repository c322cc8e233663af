import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';

/** A formula in a text. */
export interface Formula {
  /** Without its marks. */
  readonly latex: string;
  /** Whether it has lines of its own. */
  readonly isDisplayed: boolean;
}

/** How formulas start and end. */
interface Mark {
  readonly begin: string;
  readonly end: string;
  readonly isDisplayed: boolean;
}

const MARKS: readonly Mark[] = [
  { begin: '\\(', end: '\\)', isDisplayed: false },
  { begin: '\\[', end: '\\]', isDisplayed: true },
  { begin: '$$', end: '$$', isDisplayed: true },
  { begin: '$', end: '$', isDisplayed: false },
];

/**
 * Lets a Markdown parser find LaTeX formulas: Markdown would remove their backslashes, read `_` and `*` as emphasis and
 * a `-` at the start of a line as a list. Their tokens, `math` and `math_block`, have the text as written as `content`
 * and the `Formula` as `meta`.
 */
export function findFormulas(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', 'math', mathInLine);
  markdown.block.ruler.before('fence', 'math_block', mathOnLines, { alt: ['paragraph', 'blockquote', 'list'] });
}

/** A backtick is no part of a formula, but the end of one would be in code: "the $PATH, in `$HOME`". */
function mathInLine(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  const mark = MARKS.find(({ begin }) => src.startsWith(begin, pos));
  if (mark === undefined) return false;
  const from = pos + mark.begin.length;
  const close = closingOnce(state, mark.end, from);
  if (close === -1 || close + mark.end.length > state.posMax) return false;
  const latex = src.slice(from, close);
  if (latex.trim() === '' || latex.includes('`')) return false;
  if (mark.begin === '$' && isPrice(latex, src[close + 1])) return false;
  state.pos = close + mark.end.length;
  if (silent) return true;
  const token = state.push('math', 'math', 0);
  token.content = src.slice(pos, state.pos);
  token.meta = { latex, isDisplayed: mark.isDisplayed } satisfies Formula;
  return true;
}

/**
 * A single dollar is that of a formula where no blank is inside and no number follows, as for Pandoc: not in "$5 to
 * $10".
 */
function isPrice(latex: string, next = ''): boolean {
  return /^\s|\s$/.test(latex) || /\d/.test(next);
}

/** The position of a closing mark; -1 without one. An escaped mark closes nothing. */
function closing(text: string, mark: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith(mark, at)) return at;
    if (text[at] === '\\') at += 1;
  }
  return -1;
}

/**
 * How far a closing mark was searched in vain: in a text from there on, among lines up to there. It is not searched
 * again, so that many openings take no longer than one.
 */
const searched = new WeakMap<StateInline | StateBlock, Map<string, number>>();

function closingOnce(state: StateInline, mark: string, from: number): number {
  const none = searched.get(state) ?? new Map<string, number>();
  if (from >= (none.get(mark) ?? Number.POSITIVE_INFINITY)) return -1;
  const found = closing(state.src, mark, from);
  if (found === -1) searched.set(state, none.set(mark, from));
  return found;
}

/** A formula that begins a line and ends one, without a blank line inside, as for Pandoc. */
function mathOnLines(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  const first = state.getLines(line, line + 1, state.blkIndent, false).trimStart();
  const mark = MARKS.find(({ begin, isDisplayed }) => isDisplayed && first.startsWith(begin));
  if (mark === undefined) return false;
  const last = lastLine(state, mark, line, end);
  if (last === null) return false;
  const content = state.getLines(line, last + 1, state.blkIndent, false).trim();
  const latex = content.slice(mark.begin.length, -mark.end.length);
  if (latex.trim() === '') return false;
  if (silent) return true;
  state.line = last + 1;
  const token = state.push('math_block', 'math', 0);
  Object.assign(token, { content, map: [line, state.line], meta: { latex, isDisplayed: true } satisfies Formula });
  return true;
}

/** The line that ends with the closing mark of a formula; null if words follow it, or if there is none. */
function lastLine(state: StateBlock, mark: Mark, line: number, end: number): number | null {
  const none = searched.get(state) ?? new Map<string, number>();
  if (line < (none.get(mark.end) ?? 0)) return null;
  let at = line;
  do {
    const text = state.getLines(at, at + 1, state.blkIndent, false).trim();
    const close = closing(text, mark.end, at === line ? mark.begin.length : 0);
    if (close !== -1) return close + mark.end.length === text.length ? at : null;
    at += 1;
  } while (at < end && !state.isEmpty(at) && (state.sCount[at] ?? 0) >= state.blkIndent);
  searched.set(state, none.set(mark.end, at));
  return null;
}
