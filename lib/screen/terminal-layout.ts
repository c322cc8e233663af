import truncatedWidth from 'fast-string-truncated-width';
import type { ScreenSettings } from '../chat/event.js';
import { type OutputStream, WriteQueue } from './output-stream.js';
import { wrapLines } from './print.js';
import { PLAIN, paint, type Style, textWidth } from './text/styled-text.js';

/** The output streams, and what they can show. */
export interface OutputStreams {
  /** Gets the answer and nothing else. */
  readonly out: OutputStream;
  /** Gets everything else. */
  readonly err: OutputStream;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly colour: { readonly out: boolean; readonly err: boolean };
  /** Whether the terminal supports links (OSC 8); false if absent. */
  readonly links?: boolean;
  /** The width of the terminal. */
  readonly columns: () => number;
}

/**
 * Half the duration of a terminal's frame, in milliseconds. Each write costs more than the text in it, and nobody sees
 * the difference.
 */
export const FRAME = 8;

/** How much of a row is remembered, in characters. */
const LONGEST_KNOWN = 4096;

/** Parts of emoji that some terminals show as one character and others as several, or with a different width. */
const DOUBTFUL = /\u{fe0f}|\u{200d}|\p{Emoji_Modifier}|\p{Regional_Indicator}/gu;

/** What a layout needs from the screen's options. */
interface TerminalLayoutOptions {
  readonly exact?: boolean;
  readonly waiting?: boolean;
  readonly gap?: boolean;
  readonly separate?: boolean;
  readonly settings?: Readonly<ScreenSettings>;
  now(): number;
}

interface Cursor {
  isAtLineStart: boolean;
}

/**
 * Lays out the answer on `out` and the log on `err`: keeps them on separate lines if both are the same terminal, and
 * the waiting line out of their way.
 */
export class TerminalLayout {
  readonly #streams: OutputStreams;
  readonly #isExact: boolean;
  readonly #hasWaitingLine: () => boolean;
  readonly #queue: WriteQueue;
  readonly #isShared: boolean;
  readonly #outCursor: Cursor = { isAtLineStart: true };
  readonly #errCursor: Cursor;
  readonly #waitingLine: WaitingLine;
  readonly #below = new BelowRows();
  /** The part of the answer's current line that is written. */
  #row = '';
  #writer: 'answer' | 'log' = 'answer';
  #isPaused = false;
  #owesNewline = false;
  /** Whether the next answer must be preceded by an empty line. */
  #owesGap: boolean;
  readonly #hasGap: boolean;
  readonly #separates: boolean;
  #hasWritten = false;
  /** Whether the next text of an answer must be preceded by an empty line. */
  #owesSeparator = false;

  constructor(
    streams: OutputStreams,
    { now, exact = false, waiting = true, gap = false, separate = false, settings }: TerminalLayoutOptions,
  ) {
    this.#streams = streams;
    this.#isExact = exact;
    const mode = (): ScreenSettings['waiting'] => settings?.waiting ?? 'animated';
    this.#hasWaitingLine = () => waiting && streams.errIsTerminal && mode() !== 'none';
    this.#queue = new WriteQueue(streams.outIsTerminal ? FRAME : 0, () => this.#drawBelow());
    this.#isShared = streams.outIsTerminal && streams.errIsTerminal;
    this.#hasGap = gap && this.#isShared;
    this.#owesGap = this.#hasGap;
    this.#separates = separate;
    this.#errCursor = this.#isShared ? this.#outCursor : { isAtLineStart: true };
    this.#waitingLine = new WaitingLine({
      now,
      columns: streams.columns,
      isAnimated: () => mode() === 'animated',
      canDraw: () => this.#errCursor.isAtLineStart && !this.#isPaused,
      draw: (text) => this.#writeNow(text),
    });
  }

  /** Writes the empty line between question and answer, if the terminal gets one: once, until `close`. */
  beginAnswer(): void {
    if (this.#owesGap) this.logLine('', PLAIN);
    this.#owesGap = false;
  }

  /** Continues the answer. Its styling, if any, is in the text and ends before a final newline. */
  writeAnswer(text: string): void {
    this.#switchTo('answer');
    if (text === '') return;
    if (this.#owesNewline || this.#owesSeparator) this.#write(this.#streams.out, this.#outCursor, '\n');
    this.#owesNewline = false;
    this.#owesSeparator = false;
    this.#hasWritten = true;
    this.#write(this.#streams.out, this.#outCursor, text);
  }

  /** Whether the answer's cursor is at the start of a line. */
  get isAnswerAtLineStart(): boolean {
    return this.#outCursor.isAtLineStart;
  }

  /** Ends an unfinished line of the answer. */
  endAnswer(): void {
    if (this.#outCursor.isAtLineStart) return;
    // In a pipe, the line is ended only if something follows.
    if (this.#isExact && !this.#streams.outIsTerminal) this.#owesNewline = true;
    else this.#write(this.#streams.out, this.#outCursor, '\n');
  }

  /** Continues running text in the log. */
  writeLog(text: string, style: Style): void {
    this.#switchTo('log');
    this.#write(this.#streams.err, this.#errCursor, this.#streams.colour.err ? paint(text, style) : text);
  }

  /** Writes sentences from hi itself to the log, on separate lines, wrapped at words on a terminal. */
  logText(text: string, style: Style): void {
    this.logLine(this.wrapped(text), style);
  }

  /** A text from hi itself, wrapped for the terminal. */
  wrapped(text: string): string {
    return this.#streams.errIsTerminal ? wrapLines(text, this.#streams.columns()) : text;
  }

  /** Writes separate lines to the log. */
  logLine(text: string, style: Style): void {
    this.#switchTo('log');
    this.#endLogLine();
    this.#write(this.#streams.err, this.#errCursor, `${this.#streams.colour.err ? paint(text, style) : text}\n`);
  }

  /** Shows these rows below everything written, until others are set. */
  showBelow(rows: readonly string[]): void {
    if (!this.#streams.outIsTerminal) return;
    this.#queue.put(this.#streams.out, this.#below.erase());
    this.#below.set(rows);
    this.#queue.flush();
  }

  /** Gives the terminal to another program, at the start of a line, until the returned function is called. */
  pause(): () => void {
    this.#endLogLine();
    this.#isPaused = true;
    this.#writeNow(this.#below.erase() + this.#waitingLine.erase());
    return () => {
      this.#isPaused = false;
      this.#queue.flush();
    };
  }

  /** Shows what the program waits for whenever nothing else is being written; null shows nothing. */
  wait(waiting: Waiting | null): void {
    if (this.#hasWaitingLine()) this.#queue.put(this.#streams.err, this.#waitingLine.change(waiting));
  }

  get isFull(): boolean {
    return this.#queue.isFull;
  }

  drained(): Promise<void> {
    return this.#queue.drained();
  }

  /** Stops the timer of the waiting line and writes everything that is pending. */
  close(): void {
    this.showBelow([]);
    this.#writeNow(this.#waitingLine.change(null));
    this.#owesGap = this.#hasGap;
    this.#owesSeparator = this.#separates && this.#hasWritten;
  }

  /** Ends the line that the other writer left unfinished on the same terminal. */
  #switchTo(writer: 'answer' | 'log'): void {
    if (this.#isShared && this.#writer !== writer) this.#endLogLine();
    this.#writer = writer;
  }

  #endLogLine(): void {
    if (!this.#errCursor.isAtLineStart) this.#write(this.#streams.err, this.#errCursor, '\n');
  }

  #write(stream: OutputStream, cursor: Cursor, text: string): void {
    if (text === '') return;
    this.#queue.put(this.#streams.out, this.#below.erase());
    if (cursor === this.#errCursor) this.#queue.put(this.#streams.err, this.#waitingLine.erase());
    this.#queue.put(stream, text);
    cursor.isAtLineStart = text.endsWith('\n');
    if (cursor !== this.#outCursor) return;
    const newline = text.lastIndexOf('\n');
    this.#row = newline === -1 ? this.#row + text : text.slice(newline + 1);
    if (this.#row.length > LONGEST_KNOWN) this.#row = ' '.repeat(textWidth(this.#row) % this.#streams.columns());
  }

  #drawBelow(): void {
    if (!this.#below.isDue || this.#isPaused || this.#isRowFull()) return;
    this.#queue.put(this.#streams.out, this.#below.draw());
  }

  /** Whether the cursor is past the last column, or may be where terminals disagree about widths. */
  #isRowFull(): boolean {
    const [width, columns] = [textWidth(this.#row), this.#streams.columns()];
    const doubt = 2 * (this.#row.match(DOUBTFUL)?.length ?? 0);
    const edge = Math.floor((width + doubt) / columns) * columns;
    return edge > 0 && edge >= width - doubt;
  }

  #writeNow(text: string): void {
    this.#queue.put(this.#streams.err, text);
    this.#queue.flush();
  }
}

/** What the program waits for. */
interface Waiting {
  /** The text of the line; called each time it is drawn. */
  readonly text: () => string;
  /** Ends the answer, below whose last row the line cannot be drawn, if nothing more of it is waited for. */
  makeRoom?(): void;
  /** Whether it is not drawn again while the text is the same: somebody else may use the terminal. */
  isStill?(): boolean;
  /**
   * How long output must pause before the line appears, in milliseconds. Without a delay it would flicker between
   * pieces of arriving text.
   */
  readonly delay: number;
}

/** The terminal a waiting line is drawn on. */
interface WaitingLineTerminal {
  now(): number;
  columns(): number;
  isAnimated(): boolean;
  /** Whether the cursor is where a line may be drawn. */
  canDraw(): boolean;
  draw(text: string): void;
}

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const INTERVAL = 100;
/** How often the line is drawn without animation, in milliseconds, and what it starts with. */
const STILL_INTERVAL = 1000;
const STILL_MARK = '·';

/**
 * A line with a spinner that says what the program is waiting for. It is drawn in place and leaves no trace. Its timer
 * does not keep the process alive.
 */
class WaitingLine {
  readonly #terminal: WaitingLineTerminal;
  #waiting: Waiting | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isDrawn = false;
  #frame = 0;
  #quietSince = 0;
  #drawnAt = 0;
  #drawn = '';

  constructor(terminal: WaitingLineTerminal) {
    this.#terminal = terminal;
  }

  /** Waits for something else, or for nothing. Returns the sequence that erases the old text. */
  change(waiting: Waiting | null): string {
    this.#waiting = waiting;
    if (waiting !== null) this.#timer ??= setInterval(() => this.#tick(), INTERVAL).unref();
    else if (this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    return this.erase();
  }

  /** Returns the sequence that erases the line; empty if it is not drawn. Restarts the delay. */
  erase(): string {
    this.#quietSince = this.#terminal.now();
    if (!this.#isDrawn) return '';
    this.#isDrawn = false;
    return '\r\x1b[K';
  }

  #tick(): void {
    if (this.#waiting === null || this.#terminal.now() - this.#quietSince < this.#waiting.delay) return;
    if (!this.#terminal.canDraw()) this.#waiting.makeRoom?.();
    if (!this.#terminal.canDraw()) return;
    const isAnimated = this.#terminal.isAnimated();
    if (!isAnimated && this.#isDrawn && this.#terminal.now() - this.#drawnAt < STILL_INTERVAL) return;
    const text = this.#waiting.text();
    if (this.#isDrawn && text === this.#drawn && this.#waiting.isStill?.()) return;
    this.#drawnAt = this.#terminal.now();
    this.#drawn = text;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    // Leaves one column free: a line as wide as the terminal would wrap, and erasing clears only one row.
    const { index } = truncatedWidth(text, { limit: Math.max(1, this.#terminal.columns() - 3), ellipsis: '' });
    this.#isDrawn = true;
    this.#terminal.draw(`\r${isAnimated ? FRAMES[this.#frame] : STILL_MARK} ${text.slice(0, index)}\x1b[K`);
  }
}

/** No style and no link. */
const UNSTYLED = '\x1b[0m\x1b]8;;\x1b\\';

/**
 * Rows below the text being written, wherever in its row the cursor is. They are drawn after each write and removed
 * before the next one, so that none of them stay on the screen. The cursor returns to where it was, with its style
 * (DECSC, DECRC).
 */
class BelowRows {
  #rows: readonly string[] = [];
  #isDrawn = false;

  /** Shows these rows from the next `draw` on. Each must fit into a row of the terminal, with a column left. */
  set(rows: readonly string[]): void {
    this.#rows = rows;
  }

  /** Whether there is something to draw. */
  get isDue(): boolean {
    return !this.#isDrawn && this.#rows.length > 0;
  }

  /**
   * The sequence that draws the rows. The cursor must not be past the last column: moving it would lose the pending
   * wrap to a new row.
   */
  draw(): string {
    const { length } = this.#rows;
    this.#isDrawn = true;
    // An index (IND) scrolls in the last row and keeps the column, so it makes room wherever the cursor is.
    const room = `${'\x1bD'.repeat(length)}\x1b[${length}A`;
    return `${room}\x1b7\r\n${this.#rows.map((row) => `${UNSTYLED}${row}\x1b[K`).join('\r\n')}\x1b[J\x1b8`;
  }

  /** The sequence that removes the rows; empty if they are not drawn. */
  erase(): string {
    if (!this.#isDrawn) return '';
    this.#isDrawn = false;
    // Narrowing the window may have pushed the rows off the screen, so that there is no row below. The index makes one.
    return '\x1bD\x1b[A\x1b7\x1b[0m\x1b[B\r\x1b[J\x1b8';
  }
}
