import type { Key } from 'node:readline';
import type { EditBuffer } from './edit-buffer.js';
import * as edits from './edit-buffer.js';

/** What the caller must do after a key; `edited` when the editor handled it. */
export type KeyOutcome =
  | 'edited'
  | 'submit'
  | 'interrupt'
  | 'end'
  | 'complete'
  | 'search'
  | 'editor'
  | 'clear'
  | 'image'
  | 'suspend';

/** Emacs keys, as in a shell. */
export const EDIT_KEYS: Readonly<Record<string, edits.Edit>> = {
  left: edits.moveLeft,
  'C-b': edits.moveLeft,
  right: edits.moveRight,
  'C-f': edits.moveRight,
  home: edits.moveToLineStart,
  'C-a': edits.moveToLineStart,
  end: edits.moveToLineEnd,
  'C-e': edits.moveToLineEnd,
  'M-b': edits.moveWordLeft,
  'C-left': edits.moveWordLeft,
  'M-left': edits.moveWordLeft,
  'M-f': edits.moveWordRight,
  'C-right': edits.moveWordRight,
  'M-right': edits.moveWordRight,
  backspace: edits.deleteLeft,
  'C-h': edits.deleteLeft,
  delete: edits.deleteRight,
  'C-d': edits.deleteRight,
  'C-t': edits.transpose,
  'M-u': edits.upcaseWord,
  'M-l': edits.downcaseWord,
  'M-c': edits.capitaliseWord,
};

export const KILL_KEYS: Readonly<Record<string, edits.KillRange>> = {
  'C-u': edits.toLineStart,
  'C-k': edits.toLineEnd,
  'C-w': edits.previousShellWord,
  'M-backspace': edits.previousWord,
  'M-d': edits.nextWord,
};

/** Keys that the caller handles. */
export const OUTCOME_KEYS: Readonly<Record<string, KeyOutcome>> = {
  'C-c': 'interrupt',
  tab: 'complete',
  'C-r': 'search',
  'C-g': 'editor',
  'C-x C-e': 'editor',
  'C-l': 'clear',
  'C-v': 'image',
  'C-z': 'suspend',
};

/** The last two are Shift-Enter in terminals that report it: the kitty protocol, and xterm's modifyOtherKeys. */
const NEWLINE_KEYS = new Set(['C-j', 'enter', 'M-return', 'M-enter', '\x1b[13;2u', '\x1b[27;2;13~']);

/** Whether the key inserts a newline. */
export function isNewline(name: string, key: Key): boolean {
  return NEWLINE_KEYS.has(name) || NEWLINE_KEYS.has(key.sequence ?? '');
}

/** The key's name in the notation of these tables. */
export function keyName(key: Key): string {
  return `${key.ctrl ? 'C-' : ''}${key.meta ? 'M-' : ''}${key.name ?? ''}`;
}

/** Whether the key inserts `text`. */
export function isPrintable(text: string, key: Key): boolean {
  return text >= ' ' && text !== '\x7f' && !key.ctrl && !key.meta;
}

/** A key as the line editor receives it. */
export interface PressedKey {
  readonly text: string;
  readonly key: Key;
}

/** What the line editor does for a key. Offsets count UTF-16 units. */
export type ModalAction =
  /** The key has its usual meaning. */
  | { readonly type: 'pass' }
  /** The command is incomplete, or the key does nothing. */
  | { readonly type: 'wait' }
  | { readonly type: 'edit'; readonly buffer: EditBuffer }
  /** Removes a range and keeps it for `yank`. */
  | { readonly type: 'kill'; readonly start: number; readonly end: number }
  /** Keeps a range for `yank`. */
  | { readonly type: 'copy'; readonly start: number; readonly end: number }
  | { readonly type: 'yank'; readonly at: number; readonly count: number }
  | { readonly type: 'undo' }
  | { readonly type: 'history'; readonly direction: 'older' | 'newer' }
  /** Inserts the last word of an earlier input. */
  | { readonly type: 'argument'; readonly at: number }
  | { readonly type: 'outcome'; readonly outcome: KeyOutcome }
  /** Handles these keys again. */
  | { readonly type: 'repeat'; readonly keys: readonly PressedKey[] };

/** Modal editing, such as vi keys. */
export interface ModalKeys {
  /** Whether keys are commands (normal mode). */
  readonly isNormal: boolean;
  key(pressed: PressedKey, buffer: EditBuffer): ModalAction;
  /** Handles Escape; null if it changes nothing. */
  escape(buffer: EditBuffer): EditBuffer | null;
  /** Moves the cursor to where it may be: in normal mode on the last character of a line, not after it. */
  clamp(buffer: EditBuffer): EditBuffer;
  /** Starts a new line. */
  reset(): void;
}
