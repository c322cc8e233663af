/** A range of the text that was not typed. Offsets count UTF-16 units. */
export interface MarkedRange {
  readonly start: number;
  readonly end: number;
  /**
   * `token`: stands for a long paste; the cursor skips it and deletes it as a whole. `pasted`: pasted text, which is
   * never read as a command or mention.
   */
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

/**
 * Replaces the text from `from` to `to` and puts the cursor after the replacement. A token that overlaps the range is
 * replaced as a whole.
 */
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

/**
 * The start of the run of characters of this kind that ends at `end`. A regular expression over the whole text would
 * take quadratic time.
 */
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

/** An editing command: cursor movement or deletion. */
export type Edit = (buffer: EditBuffer) => EditBuffer;

/** The replacement for deleted text. */
export const NO_TEXT: MarkedText = { text: '', marks: [] };

export const moveLeft: Edit = (buffer) => moveCursor(buffer, offsetBefore(buffer, buffer.cursor));
export const moveRight: Edit = (buffer) => moveCursor(buffer, offsetAfter(buffer, buffer.cursor));
export const moveToLineStart: Edit = (buffer) => moveCursor(buffer, lineStart(buffer));
export const moveToLineEnd: Edit = (buffer) => moveCursor(buffer, lineEnd(buffer));
export const moveWordLeft: Edit = (buffer) => moveCursor(buffer, wordStart(buffer));
export const moveWordRight: Edit = (buffer) => moveCursor(buffer, wordEnd(buffer));
export const deleteLeft: Edit = (buffer) => deleteRange(buffer, offsetBefore(buffer, buffer.cursor), buffer.cursor);

/** Deletes the character under the cursor. */
export const deleteRight: Edit = (buffer) => deleteRange(buffer, buffer.cursor, offsetAfter(buffer, buffer.cursor));

/** Swaps the characters around the cursor; at the end of the text, the last two. */
export const transpose: Edit = (buffer) => {
  const middle = buffer.cursor === buffer.text.length ? offsetBefore(buffer, buffer.cursor) : buffer.cursor;
  const [start, end] = [offsetBefore(buffer, middle), offsetAfter(buffer, middle)];
  if (start === middle || end === middle) return buffer;
  const swapped = insert(
    replaceRange(buffer, start, end, sliceMarked(buffer, middle, end)),
    sliceMarked(buffer, start, middle),
  );
  return moveCursor(swapped, end);
};

/** Makes the rest of the word upper case and moves after it. */
export const upcaseWord: Edit = (buffer) => changeWord(buffer, (word) => word.toLocaleUpperCase());
export const downcaseWord: Edit = (buffer) => changeWord(buffer, (word) => word.toLocaleLowerCase());
export const capitaliseWord: Edit = (buffer) =>
  changeWord(buffer, (word) => word.toLocaleLowerCase().replace(/[\p{L}\p{N}]/u, (first) => first.toLocaleUpperCase()));

/** Leaves a long paste unchanged. */
function changeWord(buffer: EditBuffer, change: (word: string) => string): EditBuffer {
  const end = wordEnd(buffer);
  const { text, marks } = sliceMarked(buffer, buffer.cursor, end);
  if (marks.some(({ kind }) => kind === 'token')) return moveCursor(buffer, end);
  const changed = change(text);
  const kept = marks.map((mark) => ({ ...mark, end: Math.min(mark.end, changed.length) }));
  return replaceRange(buffer, buffer.cursor, end, { text: changed, marks: kept });
}

/** Moves one line up, keeping the column; null on the first line. */
export function moveUp(buffer: EditBuffer): EditBuffer | null {
  const start = lineStart(buffer);
  if (start === 0) return null;
  const above = lineStart({ ...buffer, cursor: start - 1 });
  return moveCursor(buffer, Math.min(above + buffer.cursor - start, endOfLine(buffer.text, above)));
}

/** Moves one line down, keeping the column; null on the last line. */
export function moveDown(buffer: EditBuffer): EditBuffer | null {
  const end = lineEnd(buffer);
  if (end === buffer.text.length) return null;
  const below = afterNewline(buffer.text, end);
  return moveCursor(buffer, Math.min(below + buffer.cursor - lineStart(buffer), endOfLine(buffer.text, below)));
}

/** The start and end of the text that a kill command removes. */
export type KillRange = (buffer: EditBuffer) => readonly [number, number];

export const toLineStart: KillRange = (buffer) => [lineStart(buffer), buffer.cursor];
/** To the end of the line; at the end of a line, its newline. */
export const toLineEnd: KillRange = (buffer) => {
  const end = lineEnd(buffer);
  return [buffer.cursor, end === buffer.cursor ? afterNewline(buffer.text, end) : end];
};
export const previousWord: KillRange = (buffer) => [wordStart(buffer), buffer.cursor];
export const nextWord: KillRange = (buffer) => [buffer.cursor, wordEnd(buffer)];
/** Back to the previous white space, like Ctrl-W in a shell. */
export const previousShellWord: KillRange = (buffer) => [
  skipBack(buffer.text, skipBack(buffer.text, buffer.cursor, /\s/), /\S/),
  buffer.cursor,
];

function deleteRange(buffer: EditBuffer, start: number, end: number): EditBuffer {
  return replaceRange(buffer, start, end, NO_TEXT);
}

/** `lastIndexOf` treats a negative position as 0, so offset 0 needs its own case. */
export const lineStart = ({ text, cursor }: EditBuffer): number =>
  cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;

export const lineEnd = ({ text, cursor }: EditBuffer): number => endOfLine(text, cursor);

const wordStart = ({ text, cursor }: EditBuffer): number =>
  skipBack(text, skipBack(text, cursor, /[^\p{L}\p{N}\p{M}_]/u), /[\p{L}\p{N}\p{M}_]/u);

const wordEnd = ({ text, cursor }: EditBuffer): number =>
  cursor + (/^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);

/** Killed texts, to be yanked again. */
export class KillRing {
  readonly #kills: MarkedText[] = [];
  #yank: { readonly start: number; readonly index: number } | null = null;

  /** Adds a killed text as a new entry, or puts it before or after the newest one. */
  add(killed: MarkedText, where: 'new' | 'before' | 'after'): void {
    const newest = where === 'new' ? undefined : this.#kills.pop();
    if (newest === undefined) this.#kills.push(killed);
    else this.#kills.push(where === 'before' ? concatenate(killed, newest) : concatenate(newest, killed));
  }

  /** Inserts the newest kill; null when there is none. */
  yank(buffer: EditBuffer): EditBuffer | null {
    const newest = this.#kills.at(-1);
    if (newest === undefined) return null;
    this.#yank = { start: buffer.cursor, index: this.#kills.length - 1 };
    return insert(buffer, newest);
  }

  /**
   * Replaces the text yanked last, which must end at the cursor, with the kill before it; null if nothing was yanked.
   */
  yankPrevious(buffer: EditBuffer): EditBuffer | null {
    if (this.#yank === null) return null;
    const { start } = this.#yank;
    const index = (this.#yank.index + this.#kills.length - 1) % this.#kills.length;
    this.#yank = { start, index };
    return replaceRange(buffer, start, buffer.cursor, this.#kills[index] ?? NO_TEXT);
  }
}

function concatenate(first: MarkedText, second: MarkedText): MarkedText {
  return insert({ ...first, cursor: first.text.length }, second);
}

/** The earlier and later states of a line. */
export class UndoStack {
  #undo: EditBuffer[] = [];
  #redo: EditBuffer[] = [];

  /** Records the state before a change. */
  push(buffer: EditBuffer): void {
    this.#undo.push(buffer);
    this.#redo = [];
  }

  /** The state before `current`; null when there is none. */
  undo(current: EditBuffer): EditBuffer | null {
    return step(current, this.#undo, this.#redo);
  }

  /** The state that the last undo left; null when there is none. */
  redo(current: EditBuffer): EditBuffer | null {
    return step(current, this.#redo, this.#undo);
  }

  clear(): void {
    this.#undo = [];
    this.#redo = [];
  }
}

function step(current: EditBuffer, from: EditBuffer[], to: EditBuffer[]): EditBuffer | null {
  const next = from.pop();
  if (next === undefined) return null;
  to.push(current);
  return next;
}

/**
 * The longest grapheme (letter with its marks, joined emoji, flag) in UTF-16 units. Anything longer counts as several.
 */
const MAX_LENGTH = 64;

let segmenter: Intl.Segmenter | null = null;

/** The end of the grapheme that starts at `offset`. */
function nextGrapheme(text: string, offset: number): number {
  if (offset >= text.length) return text.length;
  if (text.startsWith('\r\n', offset)) return offset + 2;
  if (isAscii(text, offset) && isAscii(text, offset + 1)) return offset + 1;
  const [first] = segments(text.slice(offset, offset + MAX_LENGTH));
  return offset + (first?.segment.length ?? 1);
}

/** The start of the grapheme that ends at `offset`. */
function previousGrapheme(text: string, offset: number): number {
  if (offset <= 0) return 0;
  if (text.startsWith('\r\n', offset - 2)) return offset - 2;
  if (isAscii(text, offset - 1)) return offset - 1;
  const start = Math.max(0, offset - MAX_LENGTH);
  const window = text.slice(start, offset);
  const last = segments(window).containing(window.length - 1);
  return start + (last?.index ?? window.length - 1);
}

/** The user-perceived characters of a text. */
export function graphemes(text: string): Iterable<Intl.SegmentData> {
  return segments(text);
}

/** Creating the segmenter takes a few milliseconds, so it is done for the first text that is not ASCII. */
function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Also true past the end, where nothing can extend the previous character. */
const isAscii = (text: string, offset: number): boolean => offset >= text.length || text.charCodeAt(offset) < 0x80;
