import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { STOP_SIGNALS, statusAfter } from './stop-signals.js';

/** The streams of a terminal as the process has them. */
export type TerminalInput = Readable & {
  readonly isTTY?: boolean;
  readonly fd?: number;
  setRawMode?(on: boolean): unknown;
};
export type TerminalOutput = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** What a terminal reports. */
export interface TerminalEvents {
  data(bytes: Buffer): void;
  /** The size changed, or the screen may show something else after a stop (Ctrl-Z). */
  redraw(): void;
  /** The program is asked to leave with that status: a signal, or the terminal is gone. */
  leave(status: number): void;
}

/** A terminal for line editing: raw keys, marked pastes. */
export interface Terminal {
  /** Takes the terminal over. */
  open(): void;
  columns(): number;
  rows(): number;
  write(text: string): void;
  /** Gives the terminal back to the shell until the process is continued. */
  suspend(): void;
  /** Gives the terminal to another program while `use` runs; the cursor is at the start of a line then. */
  lend<Result>(use: () => Promise<Result>): Promise<Result>;
  /** Leaves the terminal as it was found. */
  close(): void;
  /** Leaves the terminal as it was found and ends the process, whatever it is still waiting for. */
  abandon(status: number): void;
}

const MARKED_PASTES_ON = '\x1b[?2004h';
/** Also ends whatever colour a crash may have left on, and shows the cursor that a question may have hidden. */
const AS_FOUND = '\x1b[?2004l\x1b[0m\x1b[?25h';

/** How long after the terminal came back a signal may still be from before. Keys make none meanwhile. Milliseconds. */
const LATE_SIGNAL = 1000;

/**
 * The terminal of these streams, not yet taken over. On every way out of the process it is given back: by `close`, by a signal, and by a
 * crash, for Node tells its `exit` listeners then too.
 */
export function createTerminal(input: TerminalInput, output: TerminalOutput, events: TerminalEvents): Terminal {
  let isTaken = false;
  let isLent = false;
  let backAt = Number.NEGATIVE_INFINITY;
  const columns = (): number => output.columns || 80;

  function take(): void {
    isTaken = true;
    input.setRawMode?.(true);
    output.write(MARKED_PASTES_ON);
    input.on('data', events.data);
    input.resume();
  }

  function giveBack(): void {
    if (!isTaken) return;
    isTaken = false;
    input.off('data', events.data);
    input.pause();
    // After a hangup there is no terminal left to set.
    try {
      input.setRawMode?.(false);
    } catch {}
    output.write(AS_FOUND);
  }

  const ignore = (): void => {};
  /** What Node says of a crash begins a line. */
  const crashed = (): void => {
    if (isTaken) output.write('\r\n');
    giveBack();
  };
  /** Node aborts when it cannot reset a terminal that is gone (`ResetStdio`), so the process ends by the signal it got. */
  const endHungUp = (): void => {
    if (!isatty(input.fd ?? 0)) process.kill(process.pid, 'SIGHUP');
  };
  const hangUp = (): void => {
    process.once('exit', endHungUp);
    // Whoever still has something to say says it to nobody.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore);
    events.leave(statusAfter('SIGHUP'));
  };
  const continued = (): void => {
    // The shell has set the terminal its own way meanwhile, which Node does not know of: without the detour it would change nothing.
    if (isTaken) {
      input.setRawMode?.(false);
      input.setRawMode?.(true);
    }
    events.redraw();
  };
  const signalled = (signal: NodeJS.Signals): void => {
    // Ctrl-C reaches everything in the foreground; it is meant for whom the terminal was lent to, and may be told after that one's end.
    if (signal === 'SIGINT' && (isLent || performance.now() - backAt < LATE_SIGNAL)) return;
    if (signal === 'SIGHUP') hangUp();
    else events.leave(statusAfter(signal));
  };

  function close(): void {
    giveBack();
    input.off('end', hangUp).off('error', hangUp);
    output.off('resize', events.redraw);
    process.off('exit', giveBack).off('SIGCONT', continued).off('uncaughtExceptionMonitor', crashed);
    for (const signal of STOP_SIGNALS) process.off(signal, signalled);
  }

  return {
    open() {
      take();
      input.on('end', hangUp).on('error', hangUp);
      output.on('error', ignore).on('resize', events.redraw);
      process.on('exit', giveBack).on('SIGCONT', continued).on('uncaughtExceptionMonitor', crashed);
      for (const signal of STOP_SIGNALS) process.on(signal, signalled);
    },
    columns,
    rows: () => output.rows || 24,
    write: (text) => output.write(text),
    suspend() {
      giveBack();
      // Comes back when the process is continued, or at once where there is no shell that could continue it.
      // The whole group, as when the terminal does it: whoever started the program must stop too for the shell to come back.
      process.kill(0, 'SIGTSTP');
      take();
      events.redraw();
    },
    async lend(use) {
      giveBack();
      isLent = true;
      try {
        return await use();
      } finally {
        isLent = false;
        backAt = performance.now();
        take();
        // Blanks as wide as the terminal bring the cursor into the next row, unless it stands at the start of one already.
        output.write(`${' '.repeat(columns() - 1)}\r\x1b[K`);
      }
    },
    close,
    abandon(status) {
      close();
      process.exit(status);
    },
  };
}
