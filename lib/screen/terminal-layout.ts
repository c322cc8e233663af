import type { Writable } from 'node:stream';
import { paint, type Style } from './style.js';
import { createWaitingLine, type Waiting } from './waiting-line.js';
import { createWriteQueue } from './write-queue.js';

/** Where text goes, and what may be done to it there. */
export interface OutputStreams {
  /** Takes the answer and nothing else. */
  readonly out: Writable;
  /** Takes everything else. */
  readonly err: Writable;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly colour: { readonly out: boolean; readonly err: boolean };
  /** The width of the terminal. */
  readonly columns: () => number;
}

/** Lays out what is written: keeps answer and asides apart when both streams are one terminal, and the waiting line out of their way. */
export interface TerminalLayout {
  /** Goes on with the answer; styling, if any, is in the text already and ends before a final newline. */
  answer(text: string): void;
  /** Ends an unfinished line of the answer. */
  endAnswer(): void;
  /** Goes on with running text beside the answer. */
  aside(text: string, style: Style): void;
  /** Writes lines of their own beside the answer. */
  line(text: string, style: Style): void;
  /** Leaves the terminal to somebody else, at the start of a line, until the returned function is called. */
  yield(): () => void;
  /** Shows what is being waited for whenever nothing else is being written; null when nothing is. */
  wait(waiting: Waiting | null): void;
  isFull(): boolean;
  drained(): Promise<void>;
  /** Ends everything this page started: no timer is left, nothing is pending. */
  close(): void;
}

/** Half of what a terminal needs for a picture, in milliseconds. Each write to a terminal costs more than the text in it, and nobody could see the difference. */
export const FRAME = 8;

interface Cursor {
  /** Whether the next character begins a line. */
  atStart: boolean;
}

/** What a page takes from the screen's options. */
export interface TerminalLayoutOptions {
  readonly exact?: boolean;
  readonly waiting?: boolean;
  now(): number;
}

/** A page on which nothing is written yet. */
export function createTerminalLayout(
  streams: OutputStreams,
  { now, exact = false, waiting: hasWaitingLine = true }: TerminalLayoutOptions,
): TerminalLayout {
  const queue = createWriteQueue(streams.outIsTerminal ? FRAME : 0);
  const outCursor: Cursor = { atStart: true };
  const shared = streams.outIsTerminal && streams.errIsTerminal;
  const errCursor: Cursor = shared ? outCursor : { atStart: true };
  const waitingLine = createWaitingLine({
    now,
    columns: streams.columns,
    isFree: () => errCursor.atStart && !isYielded,
    draw(text) {
      queue.put(streams.err, text);
      queue.flush();
    },
  });
  let voice: 'answer' | 'aside' = 'answer';
  let isYielded = false;
  let isOwed = false;

  function write(stream: Writable, cursor: Cursor, text: string): void {
    if (text === '') return;
    if (cursor === errCursor) queue.put(streams.err, waitingLine.erase());
    queue.put(stream, text);
    cursor.atStart = text.endsWith('\n');
  }

  /** A line that the other voice left unfinished on the same terminal ends before this voice speaks. */
  function speakAs(next: 'answer' | 'aside'): void {
    if (shared && voice !== next && !errCursor.atStart) write(streams.err, errCursor, '\n');
    voice = next;
  }

  return {
    answer(text) {
      speakAs('answer');
      if (isOwed && text !== '') write(streams.out, outCursor, '\n');
      if (text !== '') isOwed = false;
      write(streams.out, outCursor, text);
    },
    endAnswer() {
      if (outCursor.atStart) return;
      // Into a pipe the line is ended only when something follows.
      if (exact && !streams.outIsTerminal) isOwed = true;
      else write(streams.out, outCursor, '\n');
    },
    aside(text, style) {
      speakAs('aside');
      write(streams.err, errCursor, streams.colour.err ? paint(text, style) : text);
    },
    line(text, style) {
      speakAs('aside');
      if (!errCursor.atStart) write(streams.err, errCursor, '\n');
      write(streams.err, errCursor, `${streams.colour.err ? paint(text, style) : text}\n`);
    },
    yield() {
      if (!errCursor.atStart) write(streams.err, errCursor, '\n');
      queue.put(streams.err, waitingLine.erase());
      queue.flush();
      isYielded = true;
      return () => {
        isYielded = false;
      };
    },
    wait(waiting) {
      if (streams.errIsTerminal && hasWaitingLine) queue.put(streams.err, waitingLine.change(waiting));
    },
    isFull: queue.isFull,
    drained: queue.drained,
    close() {
      queue.put(streams.err, waitingLine.change(null));
      queue.flush();
    },
  };
}
