import type { ScreenSettings } from '../chat/screen-settings.js';
import { BelowRows } from './below-rows.js';
import type { OutputStream } from './output-stream.js';
import { PLAIN, paint, type Style } from './text/style.js';
import { textWidth } from './text/text-width.js';
import { wrapLines } from './text/wrap-lines.js';
import { type Waiting, WaitingLine } from './waiting-line.js';
import { WriteQueue } from './write-queue.js';

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

/** Half the duration of a terminal's frame, in milliseconds. Each write costs more than the text in it, and nobody sees the difference. */
export const FRAME = 8;

/** How much of a row is remembered, in characters. */
const LONGEST_KNOWN = 4096;

/** Parts of emoji that some terminals show as one character and others as several, or with a different width. */
const DOUBTFUL = /\u{fe0f}|\u{200d}|\p{Emoji_Modifier}|\p{Regional_Indicator}/gu;

/** What a layout needs from the screen's options. */
export interface TerminalLayoutOptions {
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

/** Lays out the answer on `out` and the log on `err`: keeps them on separate lines if both are the same terminal, and the waiting line out of their way. */
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
  /** Whether the next text in the pipe must be preceded by an empty line. */
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
    this.#separates = separate && !streams.outIsTerminal;
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
