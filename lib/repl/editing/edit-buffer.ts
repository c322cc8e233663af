import { nextGrapheme, previousGrapheme } from './grapheme.js';

/** A range of the text that was not typed. Offsets count UTF-16 units. */
export interface MarkedRange {
  readonly start: number;
  readonly end: number;
  /** `token`: stands for a long paste; the cursor skips it and deletes it as a whole. `pasted`: pasted text, which is never read as a command or mention. */
  readonly kind: 'token' | 'pasted';
}

/** Text with its marks, which are sorted and do not overlap. */
export interface MarkedText {
  readonly text: string;
  readonly marks: readonly MarkedRange[];
}

/** The text being edited. Immutable, so an earlier buffer serves as an undo step. */
export interface EditBuffer extends MarkedText {
  /** Never inside a token or a grapheme. */
  readonly cursor: number;
}

export const EMPTY_BUFFER: EditBuffer = { text: '', marks: [], cursor: 0 };

/** A buffer of plain text with the cursor at the end. */
export function bufferOf(text: string): EditBuffer {
  return { text, marks: [], cursor: text.length };
}

/** Joins the non-empty texts with newlines. The cursor is at the end. */
export function joinLines(texts: readonly MarkedText[]): EditBuffer {
  const lines = texts.filter(({ text }) => text !== '');
  const newline = { text: '\n', marks: [] };
  return lines.reduce<EditBuffer>(
    (joined, line) => insert(joined.text === '' ? joined : insert(joined, newline), line),
    EMPTY_BUFFER,
  );
}

/** Whether the character at `offset` belongs to a token or to pasted text. */
export function isMarked({ marks }: MarkedText, offset: number): boolean {
  return marks.some((mark) => mark.start <= offset && offset < mark.end);
}

/** The text from `start` to `end` with its marks. */
export function sliceMarked(buffer: MarkedText, start: number, end: number): MarkedText {
  const marks = buffer.marks
    .filter((mark) => mark.end > start && mark.start < end)
    .map((mark) => ({ ...mark, start: Math.max(mark.start, start) - start, end: Math.min(mark.end, end) - start }));
  return { text: buffer.text.slice(start, end), marks };
}

/** Replaces the text from `from` to `to` and puts the cursor after the replacement. A token that overlaps the range is replaced as a whole. */
export function replaceRange(buffer: EditBuffer, from: number, to: number, replacement: MarkedText): EditBuffer {
  const [start, end] = coverTokens(buffer, from, to);
  const marks = [
    ...sliceMarked(buffer, 0, start).marks,
    ...shiftMarks(replacement.marks, start),
    ...shiftMarks(sliceMarked(buffer, end, buffer.text.length).marks, start + replacement.text.length),
  ];
  const text = buffer.text.slice(0, start) + replacement.text + buffer.text.slice(end);
  return { text, marks, cursor: start + replacement.text.length };
}

/** Inserts text at the cursor. */
export function insert(buffer: EditBuffer, inserted: MarkedText): EditBuffer {
  return replaceRange(buffer, buffer.cursor, buffer.cursor, inserted);
}

/** Moves the cursor to `offset`, or to the end of the token around it. */
export function moveCursor(buffer: EditBuffer, offset: number): EditBuffer {
  const token = buffer.marks.find((mark) => mark.kind === 'token' && mark.start < offset && offset < mark.end);
  return { ...buffer, cursor: Math.max(0, Math.min(token?.end ?? offset, buffer.text.length)) };
}

/** The offset one grapheme or one token before `offset`. */
export function offsetBefore(buffer: EditBuffer, offset: number): number {
  const token = buffer.marks.find((mark) => mark.kind === 'token' && mark.end === offset);
  return token?.start ?? previousGrapheme(buffer.text, offset);
}

/** The offset one grapheme or one token after `offset`. */
export function offsetAfter(buffer: EditBuffer, offset: number): number {
  const token = buffer.marks.find((mark) => mark.kind === 'token' && mark.start === offset);
  return token?.end ?? nextGrapheme(buffer.text, offset);
}

/** The end of the line that contains `from`: the offset of its newline (`\n` or `\r\n`), or the end of the text. */
export function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  if (newline === -1) return text.length;
  return newline > from && text[newline - 1] === '\r' ? newline - 1 : newline;
}

/** The start of the line after the one that ends at `end`. */
export function afterNewline(text: string, end: number): number {
  return Math.min(text.length, end + (text.startsWith('\r\n', end) ? 2 : 1));
}

/** Widens a range to the tokens it overlaps. */
function coverTokens({ marks }: MarkedText, from: number, to: number): readonly [number, number] {
  const overlapped = marks.filter((mark) => mark.kind === 'token' && mark.start < to && mark.end > from);
  return [
    overlapped.reduce((start, mark) => Math.min(start, mark.start), from),
    overlapped.reduce((end, mark) => Math.max(end, mark.end), to),
  ];
}

const shiftMarks = (marks: readonly MarkedRange[], by: number): readonly MarkedRange[] =>
  marks.map((mark) => ({ ...mark, start: mark.start + by, end: mark.end + by }));

/** The start of the run of characters of this kind that ends at `end`. A regular expression over the whole text would take quadratic time. */
export function skipBack(text: string, end: number, kind: RegExp): number {
  let at = end;
  while (at > 0) {
    const isPair = at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
    const before = isPair ? at - 2 : at - 1;
    if (!kind.test(text.slice(before, at))) break;
    at = before;
  }
  return at;
}
