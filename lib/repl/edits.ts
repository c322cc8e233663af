import {
  afterNewline,
  type Buffer,
  endOfLine,
  insert,
  moveTo,
  type Piece,
  pieceOf,
  replaceRange,
  stepBack,
  stepForward,
} from './buffer.js';

/** What a key does to the line. */
export type Edit = (buffer: Buffer) => Buffer;

const NOTHING: Piece = { text: '', marks: [] };

export const back: Edit = (buffer) => moveTo(buffer, stepBack(buffer, buffer.cursor));
export const forward: Edit = (buffer) => moveTo(buffer, stepForward(buffer, buffer.cursor));
export const toLineStart: Edit = (buffer) => moveTo(buffer, lineStart(buffer));
export const toLineEnd: Edit = (buffer) => moveTo(buffer, lineEnd(buffer));
export const wordBack: Edit = (buffer) => moveTo(buffer, wordStart(buffer));
export const wordForward: Edit = (buffer) => moveTo(buffer, wordEnd(buffer));
export const eraseBack: Edit = (buffer) => erase(buffer, stepBack(buffer, buffer.cursor), buffer.cursor);

/** The character under the cursor goes; the cursor stays. */
export const eraseForward: Edit = (buffer) => erase(buffer, buffer.cursor, stepForward(buffer, buffer.cursor));

/** The characters on both sides of the cursor change places; at the end, the last two. */
export const swap: Edit = (buffer) => {
  const middle = buffer.cursor === buffer.text.length ? stepBack(buffer, buffer.cursor) : buffer.cursor;
  const [start, end] = [stepBack(buffer, middle), stepForward(buffer, middle)];
  if (start === middle || end === middle) return buffer;
  const swapped = insert(
    replaceRange(buffer, start, end, pieceOf(buffer, middle, end)),
    pieceOf(buffer, start, middle),
  );
  return moveTo(swapped, end);
};

/** One line up in a text of several lines, at the same distance from its start; null on the first line. */
export function lineUp(buffer: Buffer): Buffer | null {
  const start = lineStart(buffer);
  if (start === 0) return null;
  const above = lineStart({ ...buffer, cursor: start - 1 });
  return moveTo(buffer, Math.min(above + buffer.cursor - start, endOfLine(buffer.text, above)));
}

/** One line down; null on the last line. */
export function lineDown(buffer: Buffer): Buffer | null {
  const end = lineEnd(buffer);
  if (end === buffer.text.length) return null;
  const below = afterNewline(buffer.text, end);
  return moveTo(buffer, Math.min(below + buffer.cursor - lineStart(buffer), endOfLine(buffer.text, below)));
}

/** The stretch that a killing key takes, from where to where. */
export type Reach = (buffer: Buffer) => readonly [number, number];

export const toStartOfLine: Reach = (buffer) => [lineStart(buffer), buffer.cursor];
/** At the end of a line the newline itself. */
export const toEndOfLine: Reach = (buffer) => {
  const end = lineEnd(buffer);
  return [buffer.cursor, end === buffer.cursor ? afterNewline(buffer.text, end) : end];
};
export const wordBefore: Reach = (buffer) => [wordStart(buffer), buffer.cursor];
export const wordAfter: Reach = (buffer) => [buffer.cursor, wordEnd(buffer)];
/** Back to the last blank, as Ctrl-W does in a shell. */
export const blankBefore: Reach = (buffer) => [
  buffer.cursor - (/\S*\s*$/.exec(textBefore(buffer))?.[0].length ?? 0),
  buffer.cursor,
];

function erase(buffer: Buffer, start: number, end: number): Buffer {
  return replaceRange(buffer, start, end, NOTHING);
}

/** `lastIndexOf` takes a negative position for 0, so the very start is a case of its own. */
const lineStart = ({ text, cursor }: Buffer): number => (cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1);

const lineEnd = ({ text, cursor }: Buffer): number => endOfLine(text, cursor);

const wordStart = (buffer: Buffer): number =>
  buffer.cursor - (/[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(textBefore(buffer))?.[0].length ?? 0);

const wordEnd = ({ text, cursor }: Buffer): number =>
  cursor + (/^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);

/** As much as a word may reach back: looking for its start from the start of a long text would take long. */
const textBefore = ({ text, cursor }: Buffer): string => text.slice(Math.max(0, cursor - 1000), cursor);
