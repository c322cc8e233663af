import { type EditBuffer, moveCursor, offsetAfter, offsetBefore, replaceRange } from '../editing/edit-buffer.js';
import { lineEnd } from '../editing/edits.js';
import { isPrintable } from '../editing/key-bindings.js';
import type { ModalAction, PressedKey } from '../editing/modal-keys.js';
import type { MotionTarget } from './motions.js';

/** Named keys that stand for a command. */
const NAMED: Readonly<Record<string, string>> = {
  left: 'h',
  right: 'l',
  backspace: 'h',
  home: '0',
  end: '$',
  up: 'k',
  down: 'j',
  delete: 'x',
};

/** The command that a key stands for; empty for none. */
export function commandName({ text, key }: PressedKey): string {
  if (isPrintable(text, key)) return text;
  return key.ctrl || key.meta ? '' : (NAMED[key.name ?? ''] ?? '');
}

/** After `c`, a word motion ends at the word's last character. */
export const WORD_ENDS: Readonly<Record<string, string>> = { w: 'e', W: 'E' };

/** Whether the cursor is on white space, or at the end of the text. */
export const isOnBlank = ({ text, cursor }: EditBuffer): boolean => /^(?:\s|$)/.test(text.slice(cursor, cursor + 1));

/** An operator's word motion does not leave the line, unless it starts at the end of one. */
export function stopAtLine(name: string, target: MotionTarget | null, buffer: EditBuffer): MotionTarget | null {
  const end = lineEnd(buffer);
  if (target === null || !'wW'.includes(name) || buffer.cursor === end) return target;
  return { ...target, to: Math.min(target.to, end) };
}

/** Replaces `count` characters with this one and puts the cursor on the last; null if the line has fewer. */
export function replaceCharacters(buffer: EditBuffer, character: string, count: number): EditBuffer | null {
  let end = buffer.cursor;
  for (let left = count; left > 0; left -= 1) {
    if (end >= lineEnd(buffer)) return null;
    end = offsetAfter(buffer, end);
  }
  const replaced = replaceRange(buffer, buffer.cursor, end, { text: character.repeat(count), marks: [] });
  return { ...replaced, cursor: offsetBefore(replaced, replaced.cursor) };
}

/** Swaps upper and lower case, and moves past what it changed. */
export function swapCase(buffer: EditBuffer, count: number): EditBuffer {
  let changed = buffer;
  for (let left = count; left > 0 && changed.cursor < lineEnd(changed); left -= 1) changed = swapOne(changed);
  return changed;
}

function swapOne(buffer: EditBuffer): EditBuffer {
  const end = offsetAfter(buffer, buffer.cursor);
  if (buffer.marks.some(({ kind, start }) => kind === 'token' && start === buffer.cursor))
    return moveCursor(buffer, end);
  const text = buffer.text.slice(buffer.cursor, end);
  const upper = text.toLocaleUpperCase();
  const swapped = text === upper ? text.toLocaleLowerCase() : upper;
  return replaceRange(buffer, buffer.cursor, end, { text: swapped, marks: [] });
}

/** Typing replaces characters up to the end of the line. */
export function overtype({ text, key }: PressedKey, buffer: EditBuffer): ModalAction {
  if (key.name === 'backspace')
    return { type: 'edit', buffer: moveCursor(buffer, offsetBefore(buffer, buffer.cursor)) };
  if (!isPrintable(text, key)) return { type: 'pass' };
  const end = Math.max(buffer.cursor, Math.min(lineEnd(buffer), offsetAfter(buffer, buffer.cursor)));
  return { type: 'edit', buffer: replaceRange(buffer, buffer.cursor, end, { text, marks: [] }) };
}
