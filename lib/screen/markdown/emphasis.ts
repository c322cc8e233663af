/** How far a closing mark is looked for, in characters: so much text waits at most for the meaning of a mark before it. */
const LOOK_AHEAD = 500;

/** What emphasis is marked with. */
export type EmphasisMark = '*' | '_' | '~';

/** A run of emphasis marks. */
export interface MarkRun {
  readonly mark: EmphasisMark;
  readonly length: number;
}

/**
 * Whether a run of `*`, `_` or `~`, which ends at `from`, is closed in its line. Null while that is not known, which is never where nothing
 * follows (`isLast`).
 */
export function isEmphasisClosed(text: string, from: number, opener: MarkRun, isLast: boolean): boolean | null {
  const { ahead, isComplete } = lookAhead(text, from, isLast);
  const marks = RUNS[opener.mark];
  marks.lastIndex = 0;
  let open = opener.length;
  /** Marks that were opened later and are closed earlier. */
  let inner = 0;
  for (let found = marks.exec(ahead); found !== null; found = marks.exec(ahead)) {
    const [run] = found;
    const end = found.index + run.length;
    if (run.startsWith('`')) marks.lastIndex = endOfCode(ahead, end, run.length) ?? end;
    if (!run.startsWith(opener.mark)) continue;
    if (end === ahead.length && !isComplete) return null;
    const before = found.index === 0 ? opener.mark : (ahead[found.index - 1] ?? '');
    const { canOpen, canClose } = flanking(opener.mark, before, characterAt(ahead, end));
    const closed = canClose ? run.length : 0;
    open -= Math.max(0, closed - inner);
    inner = Math.max(0, inner - closed);
    if (open <= 0) return true;
    if (canOpen && !canClose) inner += run.length;
  }
  return isComplete ? false : null;
}

/** Whether code opened by so many backticks is closed in its line. Null while that is not known. */
export function isCodeClosed(text: string, from: number, length: number, isLast: boolean): boolean | null {
  const { ahead, isComplete } = lookAhead(text, from, isLast);
  const end = endOfCode(ahead, 0, length);
  if (end === null) return isComplete ? false : null;
  return end === ahead.length && !isComplete ? null : true;
}

/** Whether a run of marks can open and close emphasis between these two characters (CommonMark 6.2). */
export function flanking(
  mark: string,
  before: string,
  after: string,
): { readonly canOpen: boolean; readonly canClose: boolean } {
  const [blankBefore, blankAfter] = [/\s/.test(before), /\s/.test(after)];
  const [signBefore, signAfter] = [SIGN.test(before), SIGN.test(after)];
  const isLeft = !blankAfter && (!signAfter || blankBefore || signBefore);
  const isRight = !blankBefore && (!signBefore || blankAfter || signAfter);
  if (mark !== '_') return { canOpen: isLeft, canClose: isRight };
  return { canOpen: isLeft && (!isRight || signBefore), canClose: isRight && (!isLeft || signAfter) };
}

/** The character that begins at `at`; a newline at the end. */
export function characterAt(text: string, at: number): string {
  return at >= text.length ? '\n' : String.fromCodePoint(text.codePointAt(at) ?? 10);
}

/** The rest of the line, as far as is looked, and whether more text can change it. */
function lookAhead(
  text: string,
  from: number,
  isLast: boolean,
): { readonly ahead: string; readonly isComplete: boolean } {
  const ahead = text.slice(from, from + LOOK_AHEAD);
  const newline = ahead.indexOf('\n');
  if (newline !== -1) return { ahead: ahead.slice(0, newline), isComplete: true };
  return { ahead, isComplete: isLast || ahead.length === LOOK_AHEAD };
}

/** Where the next run of exactly `length` backticks ends; null when there is none. */
function endOfCode(text: string, from: number, length: number): number | null {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let found = runs.exec(text); found !== null; found = runs.exec(text))
    if (found[0].length === length) return found.index + length;
  return null;
}

/** What a closing mark is looked for in: escaped characters, code, and runs of the mark. */
const RUNS: Readonly<Record<EmphasisMark, RegExp>> = {
  '*': /\\[\s\S]?|`+|\*+/g,
  _: /\\[\s\S]?|`+|_+/g,
  '~': /\\[\s\S]?|`+|~+/g,
};

const SIGN = /[\p{P}\p{S}]/u;
