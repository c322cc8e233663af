import type { Key } from 'node:readline';
import { unreachable } from '../../errors.js';
import {
  type EditBuffer,
  EMPTY_BUFFER,
  insert,
  isMarked,
  type KillRange,
  KillRing,
  moveCursor,
  moveDown,
  moveUp,
  NO_TEXT,
  offsetBefore,
  replaceRange,
  sliceMarked,
  UndoStack,
} from './edit-buffer.js';
import {
  EDIT_KEYS,
  isNewline,
  isPrintable,
  type KeyOutcome,
  KILL_KEYS,
  keyName,
  type ModalAction,
  type ModalKeys,
  OUTCOME_KEYS,
} from './key-bindings.js';
import { isOpenBlock, type LongPastes } from './long-pastes.js';

/**
 * What the last key did. Keys of the same kind combine: typing is undone word by word, and consecutive kills make one.
 */
type EditKind = 'type' | 'kill' | 'yank' | 'argument' | 'other';

/** The line being edited: takes keys and pastes and keeps a buffer to draw. It knows nothing of the terminal. */
export class LineEditor {
  readonly #longPastes: LongPastes;
  readonly #history: HistoryCursor;
  readonly #undo = new UndoStack();
  readonly #kills = new KillRing();
  readonly #lastArgument: LastArgument;
  readonly #modal: ModalKeys | null;
  #buffer = EMPTY_BUFFER;
  #lastKind: EditKind = 'other';
  /** The first key of a sequence of two. */
  #prefix = '';

  /** `modal` is for modal editing (vi keys). */
  constructor(longPastes: LongPastes, history: InputList, modal: ModalKeys | null = null) {
    this.#longPastes = longPastes;
    this.#modal = modal;
    this.#lastArgument = new LastArgument(history);
    this.#history = new HistoryCursor(history, (text) => longPastes.fold(text));
  }

  get buffer(): EditBuffer {
    return this.#buffer;
  }

  /** Whether keys are commands (vi's normal mode). */
  get isNormal(): boolean {
    return this.#modal?.isNormal ?? false;
  }

  key(text: string, key: Key): KeyOutcome {
    if (this.#modal === null) return this.#plainKey(text, key);
    // Escape and a key in quick succession look like Alt with that key. vi has no Alt keys.
    const quick = key.meta ? /^\x1b([ -~])$/.exec(key.sequence ?? '')?.[1] : undefined;
    if (quick !== undefined) this.escape();
    const pressed =
      quick === undefined ? { text, key } : { text: quick, key: { name: quick.toLowerCase(), sequence: quick } };
    const outcome = this.#act(this.#modal.key(pressed, this.#buffer)) ?? this.#plainKey(pressed.text, pressed.key);
    this.#buffer = this.#modal.clamp(this.#buffer);
    return outcome;
  }

  /** Handles Escape; false if the line has no use for it. */
  escape(): boolean {
    const escaped = this.#modal?.escape(this.#buffer) ?? null;
    this.#restore(escaped);
    return escaped !== null;
  }

  /** Null if the key keeps its usual meaning. */
  #act(action: ModalAction): KeyOutcome | null {
    switch (action.type) {
      case 'pass':
        return null;
      case 'outcome':
        return action.outcome;
      case 'edit':
        this.#change(action.buffer);
        break;
      case 'kill':
        this.#remove(action.start, action.end, 'new');
        break;
      case 'copy':
        this.#kills.add(sliceMarked(this.#buffer, action.start, action.end), 'new');
        this.#change(moveCursor(this.#buffer, action.start));
        break;
      case 'yank':
        this.#put(action.at, action.count);
        break;
      case 'undo':
        this.#restore(this.#undo.undo(this.#buffer));
        break;
      case 'history':
        this.#change(this.#history[action.direction](this.#buffer));
        break;
      case 'argument':
        this.#buffer = moveCursor(this.#buffer, action.at);
        this.#insertArgument();
        break;
      case 'repeat':
        for (const { text, key } of action.keys) if (key.name !== 'escape' || !this.escape()) this.key(text, key);
        break;
      case 'wait':
        break;
      default:
        unreachable(action);
    }
    return 'edited';
  }

  /** Inserts the killed text and puts the cursor on its last character. */
  #put(at: number, count: number): void {
    let buffer = moveCursor(this.#buffer, at);
    for (let left = count; left > 0; left -= 1) buffer = this.#kills.yank(buffer) ?? buffer;
    if (buffer.text !== this.#buffer.text) this.#change({ ...buffer, cursor: offsetBefore(buffer, buffer.cursor) });
  }

  #insertArgument(): void {
    this.#change(this.#lastArgument.next(this.#buffer, this.#lastKind === 'argument'), 'argument');
  }

  #plainKey(text: string, key: Key): KeyOutcome {
    const name = this.#prefix + keyName(key);
    this.#prefix = name === 'C-x' ? 'C-x ' : '';
    if (this.#prefix !== '') return 'edited';
    if (name === 'return') return this.#enter();
    if (name === 'C-d' && this.#buffer.text === '') return 'end';
    const outcome = OUTCOME_KEYS[name];
    if (outcome === undefined) this.#edit(name, text, key);
    return outcome ?? 'edited';
  }

  paste(text: string): void {
    this.#change(this.#longPastes.paste(this.#buffer, text), 'other');
  }

  /** Replaces the line. Undo restores the old one. */
  set(buffer: EditBuffer): void {
    this.#change(buffer, 'other');
  }

  /** Empties the line. Undo restores it, and the next earlier input is the newest. */
  clear(): void {
    this.#change(EMPTY_BUFFER);
    this.#history.reset();
  }

  /** Starts a new line with no undo steps. */
  reset(): void {
    this.#buffer = EMPTY_BUFFER;
    this.#undo.clear();
    this.#history.reset();
    this.#modal?.reset();
    this.#lastKind = 'other';
  }

  #edit(name: string, text: string, key: Key): void {
    const edit = EDIT_KEYS[name];
    const range = KILL_KEYS[name];
    if (edit !== undefined) this.#change(edit(this.#buffer), 'other');
    else if (range !== undefined) this.#kill(range);
    else if (isNewline(name, key)) this.#type('\n');
    else if (name === 'up' || name === 'C-p') this.#change(moveUp(this.#buffer) ?? this.#history.older(this.#buffer));
    else if (name === 'down' || name === 'C-n')
      this.#change(moveDown(this.#buffer) ?? this.#history.newer(this.#buffer));
    else if (name === 'C-y') this.#change(this.#kills.yank(this.#buffer), 'yank');
    else if (name === 'M-y') this.#yankPrevious();
    else if (key.sequence === '\x1b.' || key.sequence === '\x1b_') this.#insertArgument();
    else if (key.sequence === '\x1f') this.#restore(this.#undo.undo(this.#buffer));
    else if (key.sequence === '\x1e') this.#restore(this.#undo.redo(this.#buffer));
    else if (isPrintable(text, key)) this.#type(text);
  }

  /** Applies the new state; null changes nothing. */
  #change(next: EditBuffer | null, kind: EditKind = 'other'): void {
    if (next === null) return;
    if (next.text !== this.#buffer.text && !(kind === 'type' && this.#lastKind === 'type'))
      this.#undo.push(this.#buffer);
    this.#buffer = next;
    this.#lastKind = kind;
  }

  #restore(next: EditBuffer | null): void {
    if (next === null) return;
    this.#buffer = next;
    this.#lastKind = 'other';
  }

  #type(text: string): void {
    this.#change(this.#longPastes.recognise(insert(this.#buffer, { text, marks: [] })), 'type');
    if (/\s/.test(text)) this.#lastKind = 'other';
  }

  #kill(range: KillRange): void {
    const [start, end] = range(this.#buffer);
    const side = end === this.#buffer.cursor ? 'before' : 'after';
    this.#remove(start, end, this.#lastKind === 'kill' ? side : 'new');
  }

  #remove(start: number, end: number, where: 'new' | 'before' | 'after'): void {
    if (start === end) return;
    const buffer = this.#buffer;
    const next = replaceRange(buffer, start, end, NO_TEXT);
    // The tokens that the range overlaps are killed as a whole, so the killed text may be longer than the range.
    const killed = sliceMarked(buffer, next.cursor, next.cursor + buffer.text.length - next.text.length);
    this.#kills.add(killed, where);
    this.#change(next, 'kill');
  }

  #yankPrevious(): void {
    if (this.#lastKind === 'yank') this.#change(this.#kills.yankPrevious(this.#buffer), 'yank');
  }

  /** Submits, unless the line ends with a backslash or a block is open. */
  #enter(): KeyOutcome {
    const buffer = this.#buffer;
    const { length } = buffer.text;
    if (/(?<!\\)(\\\\)*\\$/.test(buffer.text) && !isMarked(buffer, length - 1)) {
      this.#change(replaceRange(buffer, length - 1, length, { text: '\n', marks: [] }));
      return 'edited';
    }
    if (!isOpenBlock(buffer)) return 'submit';
    this.#type('\n');
    return 'edited';
  }
}

/** Inserts the last word of an earlier input, like Alt-. in a shell. */
class LastArgument {
  readonly #history: InputList;
  #inserted: { readonly start: number; readonly index: number } | null = null;

  constructor(history: InputList) {
    this.#history = history;
  }

  /**
   * Inserts the word of the newest input. Pressed again (`isAgain`), replaces it with that of the input before. Null if
   * there is none.
   */
  next(buffer: EditBuffer, isAgain: boolean): EditBuffer | null {
    const entries = this.#history.entries();
    const before = isAgain ? this.#inserted : null;
    const index = (before?.index ?? entries.length) - 1;
    const word = (entries[index] ?? '').slice(-LONGEST).trim().split(/\s/).at(-1);
    if (!word) return null;
    const start = before?.start ?? buffer.cursor;
    this.#inserted = { start, index };
    const text = { text: word, marks: [] };
    return before === null ? insert(buffer, text) : replaceRange(buffer, start, buffer.cursor, text);
  }
}

/** At most this many characters, from the end of the word, are inserted. */
const LONGEST = 1000;

/** Earlier inputs, oldest first. */
export interface InputList {
  entries(): readonly string[];
}

/** A position in the input history. The line being typed is the draft, which comes after the newest input. */
class HistoryCursor {
  readonly #history: InputList;
  readonly #fold: (text: string) => EditBuffer;
  #recalled: { readonly index: number; readonly draft: EditBuffer } | null = null;

  /** `fold` turns an input into what the line shows: long pastes become tokens. */
  constructor(history: InputList, fold: (text: string) => EditBuffer) {
    this.#history = history;
    this.#fold = fold;
  }

  /** The input before the current one; null at the oldest. */
  older(current: EditBuffer): EditBuffer | null {
    return this.#moveTo((this.#recalled?.index ?? this.#history.entries().length) - 1, current);
  }

  /** The input after the current one, or the draft; null at the draft. */
  newer(current: EditBuffer): EditBuffer | null {
    return this.#recalled === null ? null : this.#moveTo(this.#recalled.index + 1, current);
  }

  reset(): void {
    this.#recalled = null;
  }

  #moveTo(index: number, current: EditBuffer): EditBuffer | null {
    const entries = this.#history.entries();
    if (index < 0 || index > entries.length) return null;
    const draft = this.#recalled?.draft ?? current;
    this.#recalled = index === entries.length ? null : { index, draft };
    return index === entries.length ? draft : this.#fold(entries[index] ?? '');
  }
}
