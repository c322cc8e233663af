import type { StateInline } from 'markdown-it';

/** How formulas start and end. */
const MARKS: readonly (readonly [string, string])[] = [
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['$$', '$$'],
];

/** Keeps LaTeX formulas as written: Markdown would remove their backslashes, and read `_` and `*` as emphasis. */
export function math(state: StateInline, silent: boolean): boolean {
  const mark = MARKS.find(([begin]) => state.src.startsWith(begin, state.pos));
  if (mark === undefined) return false;
  const [begin, end] = mark;
  const close = closing(state, end, state.pos + begin.length);
  if (close === -1 || close + end.length > state.posMax) return false;
  if (!silent) state.push('math', 'span', 0).content = state.src.slice(state.pos, close + end.length);
  state.pos = close + end.length;
  return true;
}

/** The position from which a closing mark was searched in vain. It is not searched again, so that many openings take no longer than one. */
const searched = new WeakMap<StateInline, Map<string, number>>();

function closing(state: StateInline, mark: string, from: number): number {
  const none = searched.get(state) ?? new Map<string, number>();
  if (from >= (none.get(mark) ?? Number.POSITIVE_INFINITY)) return -1;
  const found = state.src.indexOf(mark, from);
  if (found === -1) searched.set(state, none.set(mark, from));
  return found;
}
