import type { Key } from 'node:readline';
import type { EditBuffer } from './edit-buffer.js';
import type { KeyOutcome } from './key-bindings.js';

/** A key as the line editor gets it. */
export interface PressedKey {
  readonly text: string;
  readonly key: Key;
}

/** What a key leads to. Offsets count UTF-16 units. */
export type ModalAction =
  /** The line editor handles the key. */
  | { readonly type: 'pass' }
  /** A part of a command, or nothing. */
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
  /** The same keys once more. */
  | { readonly type: 'repeat'; readonly keys: readonly PressedKey[] };

/** Keys with modes, in place of the usual ones. */
export interface ModalKeys {
  /** Whether keys are commands. */
  readonly isNormal: boolean;
  key(pressed: PressedKey, buffer: EditBuffer): ModalAction;
  /** Escape; null where it changes nothing. */
  escape(buffer: EditBuffer): EditBuffer | null;
  /** Where the cursor may be: on the last character of a line, not after it, while keys are commands. */
  clamp(buffer: EditBuffer): EditBuffer;
  /** A new line begins. */
  reset(): void;
}
