import { quantity } from '../../chat/text.js';
import { BOLD, CYAN, DIM, paint } from '../../screen/text/styled-text.js';
import type { Candidate } from '../editing/completion.js';
import type { EditBuffer } from '../editing/edit-buffer.js';
import { displayText, displayWidth, displayWithTokens, layOutRows, rowIndexAt, type ScreenRow } from './line-layout.js';

/** What is drawn. `hint` is a dim row below the line, shown until the next drawing. */
export interface LineView {
  readonly prompt: string;
  readonly buffer: EditBuffer;
  readonly hint?: string;
}

/** A terminal to draw on. */
export interface Canvas {
  columns(): number;
  rows(): number;
  write(text: string): void;
}

/** The last drawing. `above` holds the widths of the rows above the cursor. */
interface Drawing {
  readonly view: LineView;
  readonly columns: number;
  readonly above: readonly number[];
}

/** The rows that fit on the screen, `first` to `last`; the cursor is in row `current`. */
interface Viewport {
  readonly rows: readonly ScreenRow[];
  readonly first: number;
  readonly last: number;
  readonly current: number;
}

/**
 * Draws the line being edited. It never asks the terminal for the cursor position. It remembers the cursor's row in its
 * own drawing, and restores the column by printing the text before the cursor again, which is right however wide the
 * terminal draws an emoji.
 */
export class LineRenderer {
  readonly #canvas: Canvas;
  readonly #hasColour: boolean;
  #drawn: Drawing | null = null;

  constructor(canvas: Canvas, hasColour: boolean) {
    this.#canvas = canvas;
    this.#hasColour = hasColour;
  }

  /** Draws the line over the last drawing. */
  draw(view: LineView): void {
    const columns = this.#canvas.columns();
    if (this.#drawn !== null && this.#drawn.columns === columns && isAppended(this.#drawn.view, view, columns)) {
      this.#canvas.write(displayText(view.buffer.text.slice(this.#drawn.view.buffer.text.length)));
      this.#drawn = { ...this.#drawn, view };
      return;
    }
    const viewport = viewportOf(view, columns, this.#canvas.rows());
    const { rows, first, current } = viewport;
    this.#canvas.write(
      this.#toStart() + this.#rowsText(view, viewport) + this.#hintText(view, columns) + this.#toCursor(view, viewport),
    );
    this.#drawn = { view, columns, above: rows.slice(first, current).map((row) => rowWidth(view, row)) };
  }

  /**
   * Prints the line into the scrollback and moves to the next row: the whole line, or as much as fits on the screen.
   */
  commit({ prompt, buffer }: LineView): void {
    const end = endOfScreenful(prompt, buffer.text, this.#canvas);
    const text = displayWithTokens(buffer.text, buffer.marks, 0, end, this.#token) + this.#restText(buffer.text, end);
    // tmux copies the screen into its scrollback when ED (`\x1b[J`) comes at the home position, so the prompt is
    // printed first.
    this.#canvas.write(`${this.#toStart()}${this.#promptText(prompt)}\x1b[J${text.replaceAll('\n', '\r\n')}\r\n`);
    this.#drawn = null;
  }

  /** Removes the line from the screen, so that other output can be printed there. */
  erase(): void {
    // The cursor moves off the home position for ED, as in `commit`.
    this.#canvas.write(`${this.#toStart()}\x1b[K\x1b[C\x1b[J\r`);
    this.#drawn = null;
  }

  /** Writes text where the line was; the next drawing is below it. */
  replaceBy(text: string): void {
    this.erase();
    this.#canvas.write(text);
  }

  clearScreen(): void {
    this.#canvas.write('\x1b[H\x1b[2J');
    this.#drawn = null;
  }

  readonly #token = (text: string): string => (this.#hasColour ? paint(text, CYAN) : text);

  /**
   * Moves to the start of the last drawing. A terminal that became narrower since has wrapped the rows above the cursor
   * again. Terminals disagree about the cursor's own row, which counts as one: moving up too few rows leaves remains on
   * the screen, too many erases other output.
   */
  #toStart(): string {
    const columns = this.#canvas.columns();
    const above = this.#drawn?.above ?? [];
    const up = above.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return up > 0 ? `\r\x1b[${up}A` : '\r';
  }

  /** Ends each row itself: a row that the terminal wraps would be wrapped again when the width changes. */
  #rowsText(view: LineView, { rows, first, last }: Viewport): string {
    const lines = rows
      .slice(first, last + 1)
      .map((row) => this.#rowText(view, row, row.end) + (row.isFull ? '' : '\x1b[K'));
    return `${lines.join('\r\n')}${rows[last]?.isFull ? '' : '\x1b[J'}`;
  }

  #rowText({ prompt, buffer }: LineView, row: ScreenRow, end: number): string {
    const text = displayWithTokens(buffer.text, buffer.marks, row.start, end, this.#token);
    return row.start === 0 ? this.#promptText(prompt) + text : text;
  }

  #promptText(prompt: string): string {
    const text = displayText(prompt);
    return markedPrompt(this.#hasColour ? paint(text, BOLD) : text);
  }

  /** Says how much of the line is not printed. */
  #restText(text: string, end: number): string {
    if (end === text.length) return '';
    const rest = text.slice(end).replace(/^\r?\n/, '');
    const lines = rest.split('\n').length;
    const what = lines > 1 ? quantity(lines, 'more line') : quantity(rest.length, 'more character');
    return `\n${this.#hasColour ? paint(`… ${what}`, DIM) : `… ${what}`}`;
  }

  #hintText({ hint }: LineView, columns: number): string {
    if (hint === undefined) return '';
    const text = displayText(hint).slice(0, columns - 1);
    return `\r\n${this.#hasColour ? paint(text, DIM) : text}`;
  }

  #toCursor(view: LineView, { rows, last, current }: Viewport): string {
    const { cursor, text } = view.buffer;
    const below = last - current + (view.hint === undefined ? 0 : 1);
    if (below === 0 && cursor === text.length) return '';
    const row = rows[current];
    return `${below > 0 ? `\x1b[${below}A` : ''}\r${row === undefined ? '' : this.#rowText(view, row, cursor)}`;
  }
}

function viewportOf(view: LineView, columns: number, height: number): Viewport {
  const rows = rowsAroundCursor(view, columns, height);
  const room = Math.max(1, height - (view.hint === undefined ? 1 : 2));
  const current = rowIndexAt(rows, view.buffer.cursor);
  const first = Math.max(0, Math.min(current - Math.floor(room / 2), rows.length - room));
  return { rows, first, last: Math.min(rows.length, first + room) - 1, current };
}

/**
 * Where the text that fits on the screen with its prompt ends. Leaves a row for the note about the rest and one for the
 * cursor if needed.
 */
function endOfScreenful(prompt: string, text: string, canvas: Canvas): number {
  const [columns, height] = [canvas.columns(), canvas.rows()];
  const rows = layOutRows(text.slice(0, columns * height + height), columns, displayWidth(prompt));
  if (rows.length < height) return text.length;
  return rows[Math.max(0, height - 3)]?.end ?? text.length;
}

/**
 * More rows around the cursor than the terminal can show. Laying out megabytes of text on every key would take seconds.
 */
function rowsAroundCursor({ prompt, buffer }: LineView, columns: number, height: number): readonly ScreenRow[] {
  const { text, cursor } = buffer;
  const reach = Math.max(4096, 2 * columns * height);
  const newlineBefore = text.lastIndexOf('\n', cursor - reach);
  const start = cursor <= reach ? 0 : Math.max(newlineBefore + 1, cursor - 2 * reach);
  const end = Math.min(text.length, cursor + reach);
  const rows = layOutRows(text.slice(start, end), columns, start === 0 ? displayWidth(prompt) : 0);
  return rows.map((row) => ({ ...row, start: row.start + start, end: row.end + start }));
}

const rowWidth = ({ prompt, buffer }: LineView, { start, end }: ScreenRow): number =>
  displayWidth(buffer.text.slice(start, end)) + (start === 0 ? displayWidth(prompt) : 0);

/** Whether only plain text was typed at the end, so that printing it is enough. */
function isAppended(drawn: LineView, view: LineView, columns: number): boolean {
  const [before, after] = [drawn.buffer, view.buffer];
  if (drawn.hint !== undefined || view.hint !== undefined || drawn.prompt !== view.prompt) return false;
  if (before.cursor !== before.text.length || after.cursor !== after.text.length) return false;
  if (after.text.length > columns || after.text.length <= before.text.length) return false;
  if (!after.text.startsWith(before.text)) return false;
  if (before.marks.length > 0 || after.marks.length > 0 || !/^[\x20-\x7e]+$/.test(after.text)) return false;
  return displayWidth(view.prompt) + after.text.length < columns;
}

/**
 * The marks of FinalTerm (OSC 133), which tell the terminal what is prompt, input and output. Terminals that know them
 * can jump between prompts and copy one output (iTerm2, kitty, WezTerm, Ghostty, VS Code, Windows Terminal, tmux);
 * others ignore them.
 */
const mark = (zone: string): string => `\x1b]133;${zone}\x1b\\`;

/**
 * A prompt between its marks, at the start of a row; the input follows. The line redraws itself, so kitty must not
 * erase it on a resize.
 */
function markedPrompt(prompt: string): string {
  return mark('A;redraw=0') + prompt + mark('B');
}

/** Starts the output of an input. */
export const OUTPUT_START = mark('C');

/** Ends the output. */
export const OUTPUT_END = mark('D');

const MAX_SHOWN = 60;

/** Lists completion candidates: one per line when they have summaries, else in columns. */
export function formatCandidates(candidates: readonly Candidate[], columns: number): string {
  const shown = candidates.slice(0, MAX_SHOWN);
  const more = candidates.length > MAX_SHOWN ? `\n… ${candidates.length - MAX_SHOWN} more` : '';
  return (shown.some(({ summary }) => summary) ? formatList(shown) : formatColumns(shown, columns)) + more;
}

function formatList(candidates: readonly Candidate[]): string {
  const width = maxWidth(candidates.map(({ text }) => text));
  return candidates.map(({ text, summary = '' }) => `${pad(text, width)} ${displayText(summary)}`.trimEnd()).join('\n');
}

function formatColumns(candidates: readonly Candidate[], columns: number): string {
  const width = maxWidth(candidates.map(({ text }) => text.trimEnd())) + 2;
  const across = Math.max(1, Math.floor(columns / width));
  const down = Math.ceil(candidates.length / across);
  const row = (line: number): string =>
    candidates
      .filter((_, index) => index % down === line)
      .map(({ text }) => pad(text.trimEnd(), width))
      .join('')
      .trimEnd();
  return Array.from({ length: down }, (_, line) => row(line)).join('\n');
}

const maxWidth = (texts: readonly string[]): number =>
  texts.reduce((width, text) => Math.max(width, displayWidth(text)), 0);

const pad = (text: string, width: number): string =>
  displayText(text) + ' '.repeat(Math.max(0, width - displayWidth(text)));
