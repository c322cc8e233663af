/**
 * How far to look for a closing mark, in characters. At most this much text waits until the meaning of an earlier mark
 * is known.
 */
const LOOK_AHEAD = 500;

/** The marks of emphasis. */
export type EmphasisMark = '*' | '_' | '~';

/** A run of emphasis marks. */
interface MarkRun {
  readonly mark: EmphasisMark;
  readonly length: number;
}

/**
 * Whether a run of `*`, `_` or `~` that ends at `from` is closed in its line. Null while that is not known; never null
 * if no text follows (`isLast`).
 */
export function isEmphasisClosed(text: string, from: number, opener: MarkRun, isLast: boolean): boolean | null {
  const { ahead, isComplete } = lookAhead(text, from, isLast);
  let open = opener.length;
  /** Marks opened later, which must be closed first. */
  let inner = 0;
  for (let at = nextRun(ahead, 0, opener.mark); at < ahead.length; ) {
    const end = endOfRun(ahead, at);
    if (end === ahead.length && !isComplete) return null;
    const before = at === 0 ? opener.mark : (ahead[at - 1] ?? '');
    const { canOpen, canClose } = flanking(opener.mark, before, characterAt(ahead, end));
    const closed = canClose ? end - at : 0;
    open -= Math.max(0, closed - inner);
    inner = Math.max(0, inner - closed);
    if (open <= 0) return true;
    if (canOpen && !canClose) inner += end - at;
    at = nextRun(ahead, end, opener.mark);
  }
  return isComplete ? false : null;
}

/** Whether code opened by `length` backticks is closed in its line. Null while that is not known. */
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
  const [kindBefore, kindAfter] = [kindOf(before), kindOf(after)];
  const [signBefore, signAfter] = [kindBefore === 'sign', kindAfter === 'sign'];
  const isLeft = kindAfter !== 'blank' && (!signAfter || kindBefore !== 'letter');
  const isRight = kindBefore !== 'blank' && (!signBefore || kindAfter !== 'letter');
  if (mark !== '_') return { canOpen: isLeft, canClose: isRight };
  return { canOpen: isLeft && (!isRight || signBefore), canClose: isRight && (!isLeft || signAfter) };
}

/** The character that starts at `at`; a newline at the end of the text. */
export function characterAt(text: string, at: number): string {
  return at >= text.length ? '\n' : String.fromCodePoint(text.codePointAt(at) ?? 10);
}

/** The rest of the line, up to `LOOK_AHEAD`, and whether more text can change it. */
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

/** Where the next run of exactly `length` backticks ends; null if there is none. */
function endOfCode(text: string, from: number, length: number): number | null {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let found = runs.exec(text); found !== null; found = runs.exec(text))
    if (found[0].length === length) return found.index + length;
  return null;
}

/**
 * Where the next run of the mark starts, outside code and not escaped; the end of the text if there is none. Linear,
 * even for a text full of marks.
 */
function nextRun(text: string, from: number, mark: EmphasisMark): number {
  let at = from;
  while (at < text.length && text[at] !== mark) {
    if (text[at] === '`') {
      const end = endOfRun(text, at);
      at = endOfCode(text, end, end - at) ?? end;
    } else at += text[at] === '\\' ? 2 : 1;
  }
  return Math.min(at, text.length);
}

function endOfRun(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at] && end < text.length) end += 1;
  return end;
}

type Kind = 'blank' | 'sign' | 'letter';

function kindOf(character: string): Kind {
  return ASCII_KINDS[character.charCodeAt(0)] ?? findKind(character);
}

function findKind(character: string): Kind {
  if (/\s/.test(character)) return 'blank';
  return /[\p{P}\p{S}]/u.test(character) ? 'sign' : 'letter';
}

const ASCII_KINDS: readonly Kind[] = Array.from({ length: 128 }, (_, code) => findKind(String.fromCharCode(code)));
