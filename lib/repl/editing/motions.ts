import {
  type EditBuffer,
  lineEnd,
  lineStart,
  moveCursor,
  offsetAfter,
  offsetBefore,
  replaceRange,
} from './edit-buffer.js';
import { isPrintable, type ModalAction, type PressedKey } from './key-bindings.js';

/** Where a motion leads. */
export interface MotionTarget {
  readonly to: number;
  /** Whether an operator includes the character there. */
  readonly isInclusive: boolean;
}

/** A movement of the cursor; null where it is impossible. */
export type Motion = (buffer: EditBuffer, count: number) => MotionTarget | null;

const exclusive = (to: number): MotionTarget => ({ to, isInclusive: false });
const inclusive = (to: number): MotionTarget => ({ to, isInclusive: true });

/** Repeats a step up to `count` times, or until it no longer moves. */
function repeated(count: number, from: number, step: (at: number) => number): number {
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    const next = step(at);
    if (next === at) break;
    at = next;
  }
  return at;
}

const left: Motion = (buffer, count) => {
  const start = lineStart(buffer);
  return exclusive(repeated(count, buffer.cursor, (at) => Math.max(start, offsetBefore(buffer, at))));
};

const right: Motion = (buffer, count) => {
  const end = lineEnd(buffer);
  return exclusive(repeated(count, buffer.cursor, (at) => Math.min(end, offsetAfter(buffer, at))));
};

const firstText: Motion = (buffer) => {
  const start = lineStart(buffer);
  const blanks = /^[ \t]*/.exec(buffer.text.slice(start, lineEnd(buffer)))?.[0].length ?? 0;
  return exclusive(start + blanks);
};

const bracket: Motion = ({ text, cursor }) => {
  const at = text.slice(cursor).search(/[()[\]{}]/);
  if (at === -1) return null;
  const mark = text[cursor + at] ?? '';
  const pair = PAIRS.find((one) => one.includes(mark)) ?? '';
  const step = pair[0] === mark ? 1 : -1;
  let depth = 0;
  for (let to = cursor + at; to >= 0 && to < text.length; to += step) {
    if (pair.includes(text[to] ?? ' ')) depth += text[to] === mark ? 1 : -1;
    if (depth === 0) return inclusive(to);
  }
  return null;
};

const PAIRS = ['()', '[]', '{}'];

type Kind = 'blank' | 'word' | 'sign';

/** The kind of word a character belongs to. With `isBig` everything but white space is one kind. */
function kindAt({ text }: EditBuffer, at: number, isBig: boolean): Kind {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  if (/\s/.test(character)) return 'blank';
  return isBig || /[\p{L}\p{N}\p{M}_]/u.test(character) ? 'word' : 'sign';
}

const nextWord =
  (isBig: boolean): Motion =>
  (buffer, count) =>
    exclusive(
      repeated(count, buffer.cursor, (from) => {
        const kind = kindAt(buffer, from, isBig);
        let at = from;
        while (kind !== 'blank' && at < buffer.text.length && kindAt(buffer, at, isBig) === kind)
          at = offsetAfter(buffer, at);
        while (at < buffer.text.length && kindAt(buffer, at, isBig) === 'blank') at = offsetAfter(buffer, at);
        return at;
      }),
    );

const previousWord =
  (isBig: boolean): Motion =>
  (buffer, count) =>
    exclusive(
      repeated(count, buffer.cursor, (from) => {
        let at = offsetBefore(buffer, from);
        while (at > 0 && kindAt(buffer, at, isBig) === 'blank') at = offsetBefore(buffer, at);
        const kind = kindAt(buffer, at, isBig);
        while (at > 0 && kindAt(buffer, offsetBefore(buffer, at), isBig) === kind) at = offsetBefore(buffer, at);
        return at;
      }),
    );

const endOfWord =
  (isBig: boolean): Motion =>
  (buffer, count) =>
    inclusive(
      repeated(count, buffer.cursor, (from) => {
        const last = offsetBefore(buffer, buffer.text.length);
        let at = Math.min(last, offsetAfter(buffer, from));
        while (at < last && kindAt(buffer, at, isBig) === 'blank') at = offsetAfter(buffer, at);
        const kind = kindAt(buffer, at, isBig);
        while (at < last && kindAt(buffer, offsetAfter(buffer, at), isBig) === kind) at = offsetAfter(buffer, at);
        return at;
      }),
    );

/** By key. */
export const MOTIONS: Readonly<Record<string, Motion>> = {
  h: left,
  l: right,
  ' ': right,
  '0': (buffer) => exclusive(lineStart(buffer)),
  '^': firstText,
  $: (buffer) => exclusive(lineEnd(buffer)),
  '|': (buffer, count) => exclusive(Math.min(lineStart(buffer) + count - 1, lineEnd(buffer))),
  '%': bracket,
  w: nextWord(false),
  W: nextWord(true),
  b: previousWord(false),
  B: previousWord(true),
  e: endOfWord(false),
  E: endOfWord(true),
};

/** A search for a character in the line: `f` and `t` forward, `F` and `T` backward, `t` and `T` up to it. */
export interface Find {
  readonly way: string;
  readonly character: string;
}

/** Where the character is found. `isAgain` when the previous search found the one next to the cursor. */
export function findTarget(
  buffer: EditBuffer,
  { way, character }: Find,
  count: number,
  isAgain: boolean,
): MotionTarget | null {
  const isForward = way === 'f' || way === 't';
  const isUpTo = way === 't' || way === 'T';
  const [start, end] = [lineStart(buffer), lineEnd(buffer)];
  let at = buffer.cursor;
  if (isUpTo && isAgain) at += isForward ? 1 : -1;
  for (let left = count; left > 0; left -= 1) {
    at = isForward
      ? buffer.text.indexOf(character, at + 1)
      : at === 0
        ? -1
        : buffer.text.lastIndexOf(character, at - 1);
    if (at < start || at >= end) return null;
  }
  if (isForward) return inclusive(isUpTo ? offsetBefore(buffer, at) : at);
  return exclusive(isUpTo ? offsetAfter(buffer, at) : at);
}

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
