import type { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import { STOP_SIGNALS, statusAfter } from '../../processes.js';
import type { OutputStream } from '../../screen/output-stream.js';

/** The streams of a terminal. */
export type TerminalInput = Readable & {
  readonly isTTY?: boolean;
  readonly fd?: number;
  setRawMode?(on: boolean): unknown;
};

/** What a terminal reports. */
export interface TerminalEvents {
  data(bytes: Buffer): void;
  /** The size changed, or the screen may have changed while the process was stopped (Ctrl-Z). */
  redraw(): void;
  /** The shell gets the screen (Ctrl-Z) until the returned function is called. */
  suspend(): () => void;
  /** The program must exit with this status: a signal arrived, or the terminal is gone. */
  exit(status: number): void;
}

/** Bracketed paste, and reports of the focus. */
const MODES_ON = '\x1b[?2004h\x1b[?1004h';
/** Both off. Also resets the colour that a crash may leave on, and shows the cursor that a question may have hidden. */
const RESET = '\x1b[?1004l\x1b[?2004l\x1b[0m\x1b[?25h';

/**
 * How long after `release` a SIGINT may still be meant for the other program. In raw mode Ctrl-C sends no signal.
 * Milliseconds.
 */
const LATE_SIGNAL = 1000;

const ignore = (): void => {};

/**
 * A terminal for line editing, in raw mode with bracketed paste. It is restored however the process ends: by `close`,
 * by a signal, and after a crash, because Node runs its `exit` listeners then too.
 */
export class Terminal {
  readonly #input: TerminalInput;
  readonly #output: OutputStream;
  readonly #events: TerminalEvents;
  #isRaw = false;
  #isReleased = false;
  #reacquiredAt = Number.NEGATIVE_INFINITY;

  /** Changes nothing before `open`. */
  constructor(input: TerminalInput, output: OutputStream, events: TerminalEvents) {
    this.#input = input;
    this.#output = output;
    this.#events = events;
  }

  open(): void {
    this.#acquire();
    this.#input.on('end', this.#hangUp).on('error', this.#hangUp);
    this.#output.on('error', ignore).on('resize', this.#events.redraw);
    process.on('exit', this.#restore).on('SIGCONT', this.#continue).on('uncaughtExceptionMonitor', this.#crash);
    for (const signal of STOP_SIGNALS) process.on(signal, this.#signal);
  }

  columns(): number {
    return this.#output.columns || 80;
  }

  rows(): number {
    return this.#output.rows || 24;
  }

  write(text: string): void {
    this.#output.write(text);
  }

  /**
   * Stops the process, as Ctrl-Z does, until the shell continues it. Returns at once where no shell can continue it.
   */
  suspend(): void {
    const resume = this.#events.suspend();
    this.#restore();
    // Stops the whole process group, as a terminal does: the shell comes back only if the program's parent stops too.
    process.kill(0, 'SIGTSTP');
    this.#acquire();
    resume();
    this.#events.redraw();
  }

  /** Gives the terminal to another program while `run` is running. The cursor is at the start of a row afterwards. */
  async release<Result>(run: () => Promise<Result>): Promise<Result> {
    this.#restore();
    this.#isReleased = true;
    try {
      return await run();
    } finally {
      this.#isReleased = false;
      this.#reacquiredAt = performance.now();
      this.#acquire();
      // A row of spaces less one moves the cursor to the next row, unless it is already at the start of one.
      this.#output.write(`${' '.repeat(this.columns() - 1)}\r\x1b[K`);
    }
  }

  /** Restores the terminal. */
  close(): void {
    this.#restore();
    this.#input.off('end', this.#hangUp).off('error', this.#hangUp);
    this.#output.off('resize', this.#events.redraw);
    process.off('exit', this.#restore).off('SIGCONT', this.#continue).off('uncaughtExceptionMonitor', this.#crash);
    for (const signal of STOP_SIGNALS) process.off(signal, this.#signal);
  }

  /** Restores the terminal and ends the process, whatever is still running. */
  closeAndExit(status: number): never {
    this.close();
    process.exit(status);
  }

  #acquire(): void {
    this.#isRaw = true;
    this.#input.setRawMode?.(true);
    this.#output.write(MODES_ON);
    this.#input.on('data', this.#events.data);
    this.#input.resume();
  }

  readonly #restore = (): void => {
    if (!this.#isRaw) return;
    this.#isRaw = false;
    this.#input.off('data', this.#events.data);
    this.#input.pause();
    // After a hangup the terminal is gone and this throws.
    try {
      this.#input.setRawMode?.(false);
    } catch {}
    this.#output.write(RESET);
  };

  /** Moves to a new row for Node's report of the crash. */
  readonly #crash = (): void => {
    if (this.#isRaw) this.#output.write('\r\n');
    this.#restore();
  };

  readonly #continue = (): void => {
    // The shell has changed the terminal's mode and Node does not know: just turning raw mode on would do nothing.
    if (this.#isRaw) {
      this.#input.setRawMode?.(false);
      this.#input.setRawMode?.(true);
    }
    this.#events.redraw();
  };

  readonly #signal = (signal: NodeJS.Signals): void => {
    // Ctrl-C signals the whole foreground group. It is meant for the program that has the terminal, and may arrive
    // after that one ended.
    if (signal === 'SIGINT' && (this.#isReleased || performance.now() - this.#reacquiredAt < LATE_SIGNAL)) return;
    if (signal === 'SIGHUP') this.#hangUp();
    else this.#events.exit(statusAfter(signal));
  };

  readonly #hangUp = (): void => {
    process.once('exit', this.#endBySignal);
    // The program may still write, with no terminal to write to.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore);
    this.#events.exit(statusAfter('SIGHUP'));
  };

  /** Node aborts when it cannot reset a terminal that is gone (`ResetStdio`), so the process ends by SIGHUP instead. */
  readonly #endBySignal = (): void => {
    if (!isatty(this.#input.fd ?? 0)) process.kill(process.pid, 'SIGHUP');
  };
}
