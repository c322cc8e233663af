import type { Key } from 'node:readline';
import {
  bufferOf,
  type EditBuffer,
  EMPTY_BUFFER,
  insert,
  isMarked,
  type MarkedText,
  replaceRange,
  sliceMarked,
} from './edit-buffer.js';
import * as edits from './edits.js';
import type { LongTexts } from './long-text.js';
import { isOpenBlock } from './quoted-block.js';

/** What a key asks of whoever runs the editor; `edited` when it was the editor's own business. */
export type Asked = 'edited' | 'submit' | 'interrupt' | 'end' | 'complete' | 'search' | 'editor' | 'clear' | 'suspend';

/** The line being edited: keys and pastes go in, a buffer to draw comes out. Knows no terminal. */
export interface LineEditor {
  readonly buffer: EditBuffer;
  key(text: string, key: Key): Asked;
  paste(text: string): void;
  /** Puts another text in place of the line; undo brings the old one back. */
  set(buffer: EditBuffer): void;
  /** Begins a new line and forgets the steps of the old one. */
  reset(): void;
}

/** Inputs that can be recalled, oldest first. */
export interface Recall {
  entries(): readonly string[];
}

const EDITS: Readonly<Record<string, edits.Edit>> = {
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
};

const KILLS: Readonly<Record<string, edits.KillRange>> = {
  'C-u': edits.toLineStart,
  'C-k': edits.toLineEnd,
  'C-w': edits.previousShellWord,
  'M-backspace': edits.previousWord,
  'M-d': edits.nextWord,
};

const ASKED: Readonly<Record<string, Asked>> = {
  'C-c': 'interrupt',
  tab: 'complete',
  'C-r': 'search',
  'C-g': 'editor',
  'C-l': 'clear',
  'C-z': 'suspend',
};

/** Shift-Enter where the terminal reports it: the kitty protocol, and xterm's modifyOtherKeys. */
const NEWLINES = new Set(['C-j', 'enter', 'M-return', 'M-enter', '\x1b[13;2u', '\x1b[27;2;13~']);

/** An editor with an empty line, emacs keys as in a shell. */
export function createLineEditor(longTexts: LongTexts, recall: Recall): LineEditor {
  let buffer: EditBuffer = EMPTY_BUFFER;
  let undone: EditBuffer[] = [];
  let done: EditBuffer[] = [];
  const killed: MarkedText[] = [];
  let yanked: { readonly start: number; readonly ring: number } | null = null;
  /** What the last key was, for keys that go on with it: typing is undone in words, kills in a row are one. */
  let last: 'type' | 'kill' | 'yank' | 'other' = 'other';
  let recalled: { readonly index: number; readonly draft: EditBuffer } | null = null;
  let prefix = '';

  function change(next: EditBuffer, kind: typeof last): void {
    if (next.text !== buffer.text && !(kind === 'type' && last === 'type')) {
      done.push(buffer);
      undone = [];
    }
    buffer = next;
    last = kind;
  }

  function type(text: string): void {
    change(longTexts.recognise(insert(buffer, { text, marks: [] })), 'type');
    if (/\s/.test(text)) last = 'other';
  }

  function kill(reach: edits.KillRange): void {
    const [start, end] = reach(buffer);
    if (start === end) return;
    const next = replaceRange(buffer, start, end, { text: '', marks: [] });
    const piece = sliceMarked(buffer, next.cursor, next.cursor + buffer.text.length - next.text.length);
    const before = last === 'kill' ? killed.pop() : undefined;
    killed.push(before === undefined ? piece : joinPieces(end === buffer.cursor ? [piece, before] : [before, piece]));
    change(next, 'kill');
  }

  function yank(): void {
    const piece = killed.at(-1);
    if (piece === undefined) return;
    yanked = { start: buffer.cursor, ring: killed.length - 1 };
    change(insert(buffer, piece), 'yank');
  }

  /** Puts the kill before the one just yanked in its place. */
  function yankEarlier(): void {
    if (last !== 'yank' || yanked === null) return;
    const ring = (yanked.ring + killed.length - 1) % killed.length;
    const next = replaceRange(buffer, yanked.start, buffer.cursor, killed[ring] ?? { text: '', marks: [] });
    yanked = { start: yanked.start, ring };
    change(next, 'yank');
  }

  function step(from: EditBuffer[], to: EditBuffer[]): void {
    const next = from.pop();
    if (next === undefined) return;
    to.push(buffer);
    buffer = next;
    last = 'other';
  }

  function recallAt(index: number): void {
    const entries = recall.entries();
    const draft = recalled?.draft ?? buffer;
    if (index < 0 || index > entries.length) return;
    recalled = index === entries.length ? null : { index, draft };
    change(index === entries.length ? draft : bufferOf(entries[index] ?? ''), 'other');
  }

  function up(): void {
    const above = edits.moveUp(buffer);
    if (above !== null) change(above, 'other');
    else recallAt((recalled?.index ?? recall.entries().length) - 1);
  }

  function down(): void {
    const below = edits.moveDown(buffer);
    if (below !== null) change(below, 'other');
    else if (recalled !== null) recallAt(recalled.index + 1);
  }

  /** Enter sends, unless the line ends in a backslash or a block is open. */
  function enter(): Asked {
    const { text } = buffer;
    if (/(?<!\\)(\\\\)*\\$/.test(text) && !isMarked(buffer, text.length - 1)) {
      change(replaceRange(buffer, text.length - 1, text.length, { text: '\n', marks: [] }), 'other');
      return 'edited';
    }
    if (!isOpenBlock(buffer)) return 'submit';
    type('\n');
    return 'edited';
  }

  function act(name: string, text: string, key: Key): Asked {
    const asked = ASKED[name];
    if (asked !== undefined) return asked;
    if (name === 'return') return enter();
    if (name === 'C-d' && buffer.text === '') return 'end';
    const edit = EDITS[name];
    const reach = KILLS[name];
    if (edit !== undefined) change(edit(buffer), 'other');
    else if (reach !== undefined) kill(reach);
    else if (NEWLINES.has(name) || NEWLINES.has(key.sequence ?? '')) type('\n');
    else if (name === 'up' || name === 'C-p') up();
    else if (name === 'down' || name === 'C-n') down();
    else if (name === 'C-y') yank();
    else if (name === 'M-y') yankEarlier();
    else if (key.sequence === '\x1f') step(done, undone);
    else if (key.sequence === '\x1e') step(undone, done);
    else if (isTyped(text, key)) type(text);
    return 'edited';
  }

  return {
    get buffer() {
      return buffer;
    },
    key(text, key) {
      const name = prefix + nameOf(key);
      prefix = '';
      if (name === 'C-x') {
        prefix = 'C-x ';
        return 'edited';
      }
      return name === 'C-x C-e' ? 'editor' : act(name, text, key);
    },
    paste(text) {
      change(longTexts.paste(buffer, text), 'other');
    },
    set(next) {
      change(next, 'other');
    },
    reset() {
      buffer = EMPTY_BUFFER;
      done = [];
      undone = [];
      recalled = null;
      last = 'other';
    },
  };
}

const nameOf = (key: Key): string => `${key.ctrl ? 'C-' : ''}${key.meta ? 'M-' : ''}${key.name ?? ''}`;

const isTyped = (text: string, key: Key): boolean => text >= ' ' && text !== '\x7f' && !key.ctrl && !key.meta;

function joinPieces([first, second]: readonly [MarkedText, MarkedText]): MarkedText {
  return insert({ ...first, cursor: first.text.length }, second);
}
