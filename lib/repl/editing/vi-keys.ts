import {
  type EditBuffer,
  lineEnd,
  lineStart,
  moveCursor,
  moveDown,
  moveUp,
  offsetAfter,
  offsetBefore,
} from './edit-buffer.js';
import type { ModalAction, ModalKeys, PressedKey } from './key-bindings.js';
import {
  commandName,
  type Find,
  findTarget,
  isOnBlank,
  MOTIONS,
  type Motion,
  type MotionTarget,
  overtype,
  replaceCharacters,
  stopAtLine,
  swapCase,
  WORD_ENDS,
} from './motions.js';

/** An operator that waits for its motion. */
interface Operator {
  readonly name: 'd' | 'c' | 'y';
  readonly count: number;
}

/** Keys that abbreviate an operator and a motion. */
const SHORT: Readonly<Record<string, readonly [Operator['name'], string]>> = {
  x: ['d', 'l'],
  X: ['d', 'h'],
  s: ['c', 'l'],
  D: ['d', '$'],
  C: ['c', '$'],
  Y: ['y', '$'],
};

const WAIT: ModalAction = { type: 'wait' };
const PASS: ModalAction = { type: 'pass' };
/** Nobody types a larger count on purpose. */
const LARGEST_COUNT = 9999;

/** vi keys, as in readline and bash: a line starts in insert mode, and Escape enters normal mode. */
export class ViKeys implements ModalKeys {
  #mode: 'insert' | 'normal' | 'overtype' = 'insert';
  #count = '';
  #operator: Operator | null = null;
  /** A command that waits for a character: `r`, or a search for one. */
  #pending = '';
  #found: Find | null = null;
  /** The keys of the command being typed, including the text it inserts. */
  #typed: PressedKey[] = [];
  #isChange = false;
  /** The keys of the last change, for `.`. */
  #change: readonly PressedKey[] = [];

  get isNormal(): boolean {
    return this.#mode === 'normal';
  }

  key(pressed: PressedKey, buffer: EditBuffer): ModalAction {
    if (this.#mode === 'normal') return this.#command(pressed, buffer);
    if (this.#isChange) this.#typed.push(pressed);
    return this.#mode === 'overtype' ? overtype(pressed, buffer) : PASS;
  }

  escape(buffer: EditBuffer): EditBuffer | null {
    const wasNormal = this.#mode === 'normal';
    const isPart = this.#operator !== null || this.#pending !== '' || this.#count !== '';
    if (this.#isChange) this.#change = [...this.#typed, ESCAPE];
    this.#mode = 'normal';
    this.#begin();
    if (wasNormal) return isPart ? buffer : null;
    return this.clamp(moveCursor(buffer, Math.max(lineStart(buffer), offsetBefore(buffer, buffer.cursor))));
  }

  clamp(buffer: EditBuffer): EditBuffer {
    if (this.#mode !== 'normal' || buffer.cursor < lineEnd(buffer) || buffer.cursor === lineStart(buffer))
      return buffer;
    return { ...buffer, cursor: offsetBefore(buffer, buffer.cursor) };
  }

  reset(): void {
    this.#mode = 'insert';
    this.#begin();
  }

  #begin(): void {
    this.#count = '';
    this.#operator = null;
    this.#pending = '';
    this.#typed = [];
    this.#isChange = false;
  }

  #command(pressed: PressedKey, buffer: EditBuffer): ModalAction {
    const name = commandName(pressed);
    if (name === '') {
      this.#begin();
      return PASS;
    }
    this.#typed.push(pressed);
    const isDigit = /^[1-9]$/.test(name) || (name === '0' && this.#count !== '');
    if (isDigit && this.#pending === '') {
      this.#count = String(Math.min(LARGEST_COUNT, Number(this.#count + name)));
      return WAIT;
    }
    const action = this.#perform(name, buffer);
    if (action === WAIT) return WAIT;
    if (this.#mode === 'normal') {
      if (this.#isChange) this.#change = this.#typed;
      this.#begin();
    }
    return action ?? WAIT;
  }

  /** Null for a key with no meaning here, which ends the command. */
  #perform(name: string, buffer: EditBuffer): ModalAction | null {
    if (this.#pending === 'r') return this.#replace(name, buffer);
    if (this.#pending !== '') {
      this.#found = { way: this.#pending, character: name };
      return this.#move(findTarget(buffer, this.#found, this.#times(), false), buffer);
    }
    if (name === 'r' || 'fFtT'.includes(name)) {
      this.#pending = name;
      return WAIT;
    }
    if (name === ';' || name === ',') return this.#findAgain(name === ',', buffer);
    const motion = MOTIONS[this.#operator?.name === 'c' && !isOnBlank(buffer) ? (WORD_ENDS[name] ?? name) : name];
    if (motion !== undefined) return this.#move(this.#target(name, motion, buffer), buffer);
    if (name === 'd' || name === 'c' || name === 'y') return this.#operate(name, buffer);
    return this.#operator === null ? this.#simple(name, buffer) : null;
  }

  #target(name: string, motion: Motion, buffer: EditBuffer): MotionTarget | null {
    const target = motion(buffer, this.#times());
    return this.#operator === null ? target : stopAtLine(name, target, buffer);
  }

  /** The count of the command. */
  #times(): number {
    return Math.max(1, Number(this.#count || 1)) * (this.#operator?.count ?? 1);
  }

  #findAgain(isOpposite: boolean, buffer: EditBuffer): ModalAction | null {
    if (this.#found === null) return null;
    const { way, character } = this.#found;
    const opposite = way === way.toLowerCase() ? way.toUpperCase() : way.toLowerCase();
    return this.#move(findTarget(buffer, { way: isOpposite ? opposite : way, character }, this.#times(), true), buffer);
  }

  /** An operator. Typed twice, it applies to the whole line. */
  #operate(name: Operator['name'], buffer: EditBuffer): ModalAction | null {
    if (this.#operator === null) {
      this.#operator = { name, count: this.#times() };
      this.#count = '';
      return WAIT;
    }
    if (this.#operator.name !== name) return null;
    const [start, end] = [lineStart(buffer), lineEnd(buffer)];
    if (name !== 'd') return this.#apply(name, start, end);
    const isLast = end === buffer.text.length;
    return this.#apply(name, isLast ? Math.max(0, start - 1) : start, isLast ? end : end + 1);
  }

  #move(target: MotionTarget | null, buffer: EditBuffer): ModalAction | null {
    if (target === null) return null;
    if (this.#operator === null) return { type: 'edit', buffer: moveCursor(buffer, target.to) };
    const [start, to] = [Math.min(buffer.cursor, target.to), Math.max(buffer.cursor, target.to)];
    return this.#apply(this.#operator.name, start, target.isInclusive ? offsetAfter(buffer, to) : to);
  }

  #apply(name: Operator['name'], start: number, end: number): ModalAction {
    this.#isChange = name !== 'y';
    if (name === 'c') this.#mode = 'insert';
    return { type: name === 'y' ? 'copy' : 'kill', start, end };
  }

  #replace(character: string, buffer: EditBuffer): ModalAction | null {
    const replaced = replaceCharacters(buffer, character, this.#times());
    this.#isChange = true;
    return replaced === null ? null : { type: 'edit', buffer: replaced };
  }

  #insertAt(offset: number, buffer: EditBuffer, mode: 'insert' | 'overtype' = 'insert'): ModalAction {
    this.#mode = mode;
    this.#isChange = true;
    return { type: 'edit', buffer: moveCursor(buffer, offset) };
  }

  /** The commands without a motion. */
  #simple(name: string, buffer: EditBuffer): ModalAction | null {
    const short = SHORT[name];
    const { cursor } = buffer;
    if (short !== undefined) {
      this.#operator = { name: short[0], count: 1 };
      return this.#move(MOTIONS[short[1]]?.(buffer, this.#times()) ?? null, buffer);
    }
    switch (name) {
      case 'i':
        return this.#insertAt(cursor, buffer);
      case 'a':
        return this.#insertAt(Math.min(lineEnd(buffer), offsetAfter(buffer, cursor)), buffer);
      case 'I':
        return this.#insertAt(lineStart(buffer), buffer);
      case 'A':
        return this.#insertAt(lineEnd(buffer), buffer);
      case 'R':
        return this.#insertAt(cursor, buffer, 'overtype');
      case 'S':
        return this.#apply('c', lineStart(buffer), lineEnd(buffer));
      case 'p':
      case 'P':
        this.#isChange = true;
        return {
          type: 'yank',
          at: name === 'P' ? cursor : Math.min(lineEnd(buffer), offsetAfter(buffer, cursor)),
          count: this.#times(),
        };
      case '~':
        this.#isChange = true;
        return { type: 'edit', buffer: swapCase(buffer, this.#times()) };
      case '_':
        this.#insertAt(cursor, buffer);
        return { type: 'argument', at: Math.min(lineEnd(buffer), offsetAfter(buffer, cursor)) };
      default:
        return this.#other(name, buffer);
    }
  }

  #other(name: string, buffer: EditBuffer): ModalAction | null {
    switch (name) {
      case 'k':
      case '-':
        return earlier('older', moveUp(buffer));
      case 'j':
      case '+':
        return earlier('newer', moveDown(buffer));
      case 'u':
        return { type: 'undo' };
      case 'v':
        return { type: 'outcome', outcome: 'editor' };
      case '/':
      case '?':
        return { type: 'outcome', outcome: 'search' };
      case '.':
        return { type: 'repeat', keys: this.#change };
      default:
        return null;
    }
  }
}

const ESCAPE: PressedKey = { text: '', key: { name: 'escape', sequence: '\x1b' } };

const earlier = (direction: 'older' | 'newer', moved: EditBuffer | null): ModalAction =>
  moved === null ? { type: 'history', direction } : { type: 'edit', buffer: moved };
