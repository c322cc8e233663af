import {
  afterNewline,
  type EditBuffer,
  endOfLine,
  insert,
  type MarkedText,
  moveCursor,
  offsetAfter,
  offsetBefore,
  replaceRange,
  skipBack,
  sliceMarked,
} from './edit-buffer.js';

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
