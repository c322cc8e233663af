import type { Key } from 'node:readline';
import type { EditBuffer } from './edit-buffer.js';
import type { KeyOutcome } from './key-bindings.js';

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
