import truncatedWidth from 'fast-string-truncated-width';
import { DIM, paint } from '../screen/text/styled-text.js';
import { displayText, displayWidth } from './drawing/line-layout.js';
import type { Canvas } from './drawing/line-renderer.js';
import { type EditBuffer, EMPTY_BUFFER, graphemes, joinLines } from './editing/edit-buffer.js';
import { type LongPastes, recallable } from './editing/long-pastes.js';
import type { InputHistory } from './input-history.js';

/** The style of the character that the cursor is on. */
const REVERSE = '7';

/** Limits of the queue's rows, so that they never hide the answer: a number of rows, and a share of the screen. */
const MOST_QUEUED = 3;
const LARGEST_SHARE = 0.25;

/** The space that rows are shown in. */
interface RowSpace {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

/** The rows below an answer on this terminal. */
export function rowsBelow(
  queued: readonly EditBuffer[],
  { buffer, isNormal }: { readonly buffer: EditBuffer; readonly isNormal: boolean },
  { terminal, colour }: { readonly terminal: Pick<Canvas, 'columns' | 'rows'>; readonly colour: boolean },
): readonly string[] {
  const space = { columns: terminal.columns(), rows: terminal.rows(), colour };
  return typedAheadRows(queued, buffer, space, isNormal ? ':' : '›');
}

/**
 * What is typed while an answer streams, as rows to show below it: the queued lines, oldest first, and the line being
 * typed.
 */
export function typedAheadRows(
  queued: readonly EditBuffer[],
  typed: EditBuffer,
  space: RowSpace,
  mark = '›',
): readonly string[] {
  const most = Math.max(1, Math.min(MOST_QUEUED, Math.floor(space.rows * LARGEST_SHARE)));
  const shown = queued.length <= most ? queued : queued.slice(0, most - 1);
  const rest = queued.length - shown.length;
  const rows = [...shown.map(({ text }) => `queued: ${oneLine(text)}`), ...(rest > 0 ? [`queued: ${rest} more`] : [])];
  return [
    ...rows.map((row) => dimmed(cut(row, space.columns - 1), space)),
    ...(typed.text === '' ? [] : [`${dimmed(mark, space)} ${typedText(typed, space)}`]),
  ];
}

/**
 * The text around the cursor. The character under it is drawn in reverse, because the terminal's own cursor stays with
 * the answer.
 */
function typedText({ text, cursor }: EditBuffer, space: RowSpace): string {
  const room = Math.max(1, space.columns - 4);
  const before = ending(oneLine(text.slice(Math.max(0, cursor - 2 * room), cursor)), room);
  const after = cut(oneLine(text.slice(cursor, cursor + 2 * room)), Math.max(1, room - displayWidth(before)));
  const [under = ' '] = [...graphemes(after)].map(({ segment }) => segment);
  const rest = after.slice(under.length);
  return `${before}${space.colour ? paint(under, REVERSE) : under}${rest}`;
}

const dimmed = (text: string, { colour }: RowSpace): string => (colour ? paint(text, DIM) : text);

const oneLine = (text: string): string => displayText(text).replaceAll('\n', ' ↵ ');

/** The start of a text, with `…` if there is more. */
function cut(text: string, width: number): string {
  const { index, truncated, ellipsed } = truncatedWidth(text, { limit: width, ellipsis: '…' });
  return truncated ? text.slice(0, index) + (ellipsed ? '…' : '') : text;
}

/** As much of the end of a text as fits. */
function ending(text: string, width: number): string {
  const all = [...graphemes(text)].map(({ segment }) => segment);
  let left = width;
  let from = all.length;
  while (from > 0 && left >= displayWidth(all[from - 1] ?? '')) {
    from -= 1;
    left -= displayWidth(all[from] ?? '');
  }
  return all.slice(from).join('');
}

/** The lines submitted while an earlier one is still being processed. */
export class InputQueue {
  #lines: EditBuffer[] = [];
  #current = EMPTY_BUFFER;

  push(line: EditBuffer): void {
    this.#lines.push({ ...line, cursor: line.text.length });
  }

  shift(): EditBuffer | undefined {
    return this.#lines.shift();
  }

  /** Takes the newest line back; undefined when there is none. */
  pop(): EditBuffer | undefined {
    return this.#lines.pop();
  }

  get lines(): readonly EditBuffer[] {
    return this.#lines;
  }

  /** Records the line that is being processed. */
  start(line: EditBuffer): void {
    this.#current = line;
  }

  /** Puts the line that is being processed back, before the others. The cursor is at `mention` if the line has it. */
  requeue(mention: string): void {
    const { text } = this.#current;
    const at = mention === '' ? -1 : Math.max(text.indexOf(`@${mention}`), text.indexOf(`@"${mention}`));
    this.#lines.unshift({ ...this.#current, cursor: at === -1 ? text.length : at });
    this.#current = EMPTY_BUFFER;
  }

  /**
   * Empties the queue into the line being typed. Messages become one, but a command stays alone: joined, the words
   * after it would be its arguments. What does not fit into the line is in `others`, oldest first. The cursor stays
   * where the oldest line has it, unless that is its end.
   */
  restore(typed: EditBuffer): { readonly line: EditBuffer; readonly others: readonly EditBuffer[] } {
    const lines = this.drain();
    const inputs = joinMessages([...lines, typed].filter(({ text }) => text.trim() !== ''));
    const [first = EMPTY_BUFFER] = lines;
    if (first.cursor === first.text.length) return { line: inputs.at(-1) ?? typed, others: inputs.slice(0, -1) };
    const [line = typed, ...others] = inputs;
    return { line: { ...line, cursor: first.cursor }, others };
  }

  /** Empties the queue and returns its lines. */
  drain(): readonly EditBuffer[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}

/** A command line, or the quotes of a block, as `parseLine` and `blockText` read them. */
const COMMAND = /^\s*(?:[/!]|""")/;

function joinMessages(lines: readonly EditBuffer[]): readonly EditBuffer[] {
  const inputs: EditBuffer[] = [];
  for (const line of lines) {
    const last = inputs.at(-1);
    if (last === undefined || COMMAND.test(last.text) || COMMAND.test(line.text)) inputs.push(line);
    else inputs[inputs.length - 1] = joinLines([last, line]);
  }
  return inputs;
}

/** Adds texts that were not sent to the input history. */
export function rememberUnsent(
  buffers: readonly EditBuffer[],
  { history, longPastes }: { readonly history: InputHistory; readonly longPastes: LongPastes },
): void {
  for (const buffer of buffers) if (buffer.text.trim() !== '') history.add(recallable(longPastes.expand(buffer)));
}
