import { nextGrapheme, previousGrapheme } from './grapheme.js';

/** A stretch of the text that is more than typed characters. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  /** `token`: stands for a long paste, is moved over and deleted as a whole. `pasted`: what was pasted and stays as it is. */
  readonly kind: 'token' | 'pasted';
}

/** Text with its marks, ordered and apart from each other. */
export interface Piece {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** What is being edited. Never changed in place, so that an earlier one is an undo step. */
export interface Buffer extends Piece {
  /** Offset in UTF-16 units, never inside a token or a character. */
  readonly cursor: number;
}

export const EMPTY: Buffer = { text: '', marks: [], cursor: 0 };

/** Plain text to edit, with the cursor at its end. */
export function bufferOf(text: string): Buffer {
  return { text, marks: [], cursor: text.length };
}

/** These pieces one below the other, without the empty ones, with the cursor at the end. */
export function joinLines(pieces: readonly Piece[]): Buffer {
  const lines = pieces.filter(({ text }) => text !== '');
  const newline = { text: '\n', marks: [] };
  return lines.reduce<Buffer>(
    (before, line) => insert(before.text === '' ? before : insert(before, newline), line),
    EMPTY,
  );
}

/** Whether the character at that offset was not typed. */
export function isMarked({ marks }: Piece, offset: number): boolean {
  return marks.some((mark) => mark.start <= offset && offset < mark.end);
}

/** The text between two offsets, with its marks. */
export function pieceOf(buffer: Piece, start: number, end: number): Piece {
  const marks = buffer.marks
    .filter((mark) => mark.end > start && mark.start < end)
    .map((mark) => ({ ...mark, start: Math.max(mark.start, start) - start, end: Math.min(mark.end, end) - start }));
  return { text: buffer.text.slice(start, end), marks };
}

/** Puts a piece in place of what is between two offsets; the cursor goes behind it. Tokens that are touched go as a whole. */
export function replaceRange(buffer: Buffer, from: number, to: number, piece: Piece): Buffer {
  const [start, end] = wholeTokens(buffer, from, to);
  const marks = [
    ...pieceOf(buffer, 0, start).marks,
    ...shift(piece.marks, start),
    ...shift(pieceOf(buffer, end, buffer.text.length).marks, start + piece.text.length),
  ];
  const text = buffer.text.slice(0, start) + piece.text + buffer.text.slice(end);
  return { text, marks, cursor: start + piece.text.length };
}

/** Puts a piece where the cursor is. */
export function insert(buffer: Buffer, piece: Piece): Buffer {
  return replaceRange(buffer, buffer.cursor, buffer.cursor, piece);
}

/** The same text with the cursor at that offset, or at the edge of the token that is there. */
export function moveTo(buffer: Buffer, offset: number): Buffer {
  const token = buffer.marks.find((mark) => mark.kind === 'token' && mark.start < offset && offset < mark.end);
  return { ...buffer, cursor: Math.max(0, Math.min(token?.end ?? offset, buffer.text.length)) };
}

/** The offset one step before another: a character as the reader sees it, or a whole token. */
export function stepBack(buffer: Buffer, offset: number): number {
  const token = buffer.marks.find((mark) => mark.kind === 'token' && mark.end === offset);
  return token?.start ?? previousGrapheme(buffer.text, offset);
}

/** The offset one step after another. */
export function stepForward(buffer: Buffer, offset: number): number {
  const token = buffer.marks.find((mark) => mark.kind === 'token' && mark.start === offset);
  return token?.end ?? nextGrapheme(buffer.text, offset);
}

/** Where the line that goes on at `from` ends: before its newline, which is `\n` or `\r\n`, or at the end of the text. */
export function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  if (newline === -1) return text.length;
  return newline > from && text[newline - 1] === '\r' ? newline - 1 : newline;
}

/** Where the next line begins when one ends at `end`. */
export function afterNewline(text: string, end: number): number {
  return Math.min(text.length, end + (text.startsWith('\r\n', end) ? 2 : 1));
}

function wholeTokens({ marks }: Piece, from: number, to: number): readonly [number, number] {
  const cut = marks.filter((mark) => mark.kind === 'token' && mark.start < to && mark.end > from);
  return [
    cut.reduce((start, mark) => Math.min(start, mark.start), from),
    cut.reduce((end, mark) => Math.max(end, mark.end), to),
  ];
}

const shift = (marks: readonly Mark[], by: number): readonly Mark[] =>
  marks.map((mark) => ({ ...mark, start: mark.start + by, end: mark.end + by }));
