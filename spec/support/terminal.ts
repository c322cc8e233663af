import { spawn } from '@lydell/node-pty';
import type { IBufferCell, IBufferLine } from '@xterm/headless';
import { createEmulator, screenOf, transcriptOf } from './emulator.js';

/** How a program is started in a terminal of its own. */
export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** The whole environment but for `TERM`; the spec's own when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** What `TERM` says, `xterm-256color` when absent. */
  readonly term?: string;
  /** What it says that it can do (DA1); what the emulator says when absent. */
  readonly attributes?: string;
}

/** How the program left. */
export interface Exit {
  readonly status: number;
  readonly signal: number;
}

/** A program in a real pseudo-terminal whose screen a terminal emulator keeps. */
export interface Terminal {
  readonly pid: number;
  /** Sends these characters as if typed. */
  type(text: string): void;
  /** Sends a bracketed paste, as a terminal does: newlines become returns. */
  paste(text: string): void;
  /** The lines on the screen, without trailing blanks. */
  screen(): string;
  /** Everything from the first line on, the scrollback included; wrapped rows are joined again. */
  transcript(): string;
  /** The last line that is not empty. */
  lastLine(): string;
  /** Where the cursor is on the screen, from 0. */
  cursor(): { readonly row: number; readonly column: number };
  /** How the first occurrence of this text on the screen looks. Throws when it is not there. */
  look(text: string): Look;
  /** What is on the screen, row by row, as stretches that look the same. */
  rows(): readonly (readonly Stretch[])[];
  /** Every byte the program has written, as text. */
  written(): string;
  /**
   * Resolves when the screen satisfies the condition or contains the text; rejects with the screen after `patience`
   * milliseconds.
   */
  until(condition: string | RegExp | ((screen: string) => boolean), patience?: number): Promise<void>;
  resize(columns: number, rows: number): void;
  signal(name: NodeJS.Signals): void;
  /** Closes the window: the program's terminal is gone. */
  hangUp(): void;
  /** Resolves when the program has left and all its output is on the screen. */
  exit(): Promise<Exit>;
  /** Ends the program if it still runs. */
  close(): Promise<void>;
}

export interface Look {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  /** The palette's number, or -1 for the terminal's own colour. */
  readonly colour: number;
}

/** Text in one look, from a column on. */
export interface Stretch extends Look {
  readonly text: string;
  readonly column: number;
  readonly width: number;
  readonly inverse: boolean;
}

/** Keys as a terminal sends them. */
export const KEY = {
  enter: '\r',
  altEnter: '\x1b\r',
  escape: '\x1b',
  tab: '\t',
  backspace: '\x7f',
  delete: '\x1b[3~',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  home: '\x1b[H',
  end: '\x1b[F',
} as const;

/** The control key with that letter, such as `control('c')`. */
export function control(letter: string): string {
  return String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64);
}

const SLICE = 1024;

/** Starts a program in a terminal of 80 columns and 24 rows, or of the size asked for. */
export function openTerminal(file: string, args: readonly string[], options: TerminalOptions = {}): Terminal {
  const { columns = 80, rows = 24, term = 'xterm-256color' } = options;
  const emulator = createEmulator(columns, rows);
  const pty = spawn(file, [...args], {
    name: term,
    cols: columns,
    rows,
    cwd: options.cwd ?? process.cwd(),
    env: { ...defined(options.env ?? process.env), TERM: term },
  });

  let written = '';
  let unparsed = 0;
  let left: Exit | null = null;
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  pty.onData((text) => {
    written += text;
    unparsed += 1;
    emulator.write(text, () => {
      unparsed -= 1;
      changed();
    });
  });
  // What a program asks its terminal (where the cursor is, say) the terminal answers.
  const { attributes } = options;
  emulator.onData((answer) => pty.write(attributes && answer.endsWith('c') ? `\x1b[?${attributes}c` : answer));
  pty.onExit(({ exitCode, signal }) => {
    left = { status: exitCode, signal: signal ?? 0 };
    changed();
  });

  /**
   * A program's terminal does not take much at once, and while it is full nothing of what the program writes would be
   * read.
   */
  const unsent: string[] = [];
  function send(text: string): void {
    const isSending = unsent.length > 0;
    for (let at = 0; at < text.length; at += SLICE) unsent.push(text.slice(at, at + SLICE));
    if (!isSending) sendNext();
  }
  function sendNext(): void {
    pty.write(unsent[0] ?? '');
    if (unsent.length > 1) setImmediate(() => unsent.shift() !== undefined && sendNext());
    else unsent.length = 0;
  }

  const buffer = () => emulator.buffer.active;
  const rowText = (row: number): string => buffer().getLine(row)?.translateToString(true) ?? '';

  const screen = (): string => screenOf(emulator);

  function wait(isDone: () => boolean, patience: number, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        watchers.delete(check);
        settle();
      };
      const check = (): void => {
        if (isDone()) finish(resolve);
        else if (left !== null && unparsed === 0)
          finish(() => reject(new Error(`The program left before ${what}:\n${screen()}`)));
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`No ${what} on the screen:\n${screen()}`))),
        patience,
      );
      watchers.add(check);
      check();
    });
  }

  return {
    pid: pty.pid,
    type: send,
    paste: (text) => send(`\x1b[200~${text.replaceAll('\n', '\r')}\x1b[201~`),
    screen,
    transcript: () => transcriptOf(emulator),
    lastLine: () => screen().split('\n').at(-1) ?? '',
    cursor: () => ({ row: buffer().cursorY, column: buffer().cursorX }),
    look(text) {
      const row = screen()
        .split('\n')
        .findIndex((line) => line.includes(text));
      const line = buffer().getLine(buffer().baseY + row);
      const column = rowText(buffer().baseY + row).indexOf(text);
      const cell = line?.getCell(column);
      if (row === -1 || cell === undefined) throw new Error(`No ${JSON.stringify(text)} on the screen:\n${screen()}`);
      return lookOf(cell);
    },
    rows: () => Array.from({ length: emulator.rows }, (_, row) => stretchesOf(buffer().getLine(buffer().baseY + row))),
    written: () => written,
    until(condition, patience = 20_000) {
      return wait(() => satisfies(condition, screen()), patience, String(condition));
    },
    resize(newColumns, newRows) {
      emulator.resize(newColumns, newRows);
      pty.resize(newColumns, newRows);
    },
    signal: (name) => process.kill(pty.pid, name),
    hangUp() {
      // Not among its types: it closes the terminal's other end.
      const destroy: unknown = Reflect.get(pty, 'destroy');
      if (typeof destroy === 'function') Reflect.apply(destroy, pty, []);
    },
    async exit() {
      await wait(() => left !== null && unparsed === 0, 20_000, 'exit');
      return left ?? { status: -1, signal: 0 };
    },
    async close() {
      if (left === null) pty.kill('SIGKILL');
      await wait(() => left !== null, 5_000, 'end');
      emulator.dispose();
    },
  };
}

/** A variable that is undefined would be set to that word. */
function defined(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

function satisfies(condition: string | RegExp | ((screen: string) => boolean), screen: string): boolean {
  if (typeof condition === 'string') return screen.includes(condition);
  return condition instanceof RegExp ? condition.test(screen) : condition(screen);
}

function lookOf(cell: IBufferCell): Look {
  return {
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    colour: cell.isFgDefault() ? -1 : cell.getFgColor(),
  };
}

function stretchesOf(line: IBufferLine | undefined): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (let column = 0; line !== undefined && column < line.length; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = { ...lookOf(cell), inverse: cell.isInverse() !== 0 };
    const text = cell.getChars() || ' ';
    const last = stretches.at(-1);
    if (last !== undefined && sameLook(last, look))
      stretches.splice(-1, 1, { ...last, text: last.text + text, width: last.width + cell.getWidth() });
    else stretches.push({ ...look, text, column, width: cell.getWidth() });
  }
  return stretches;
}

function sameLook(one: Omit<Stretch, 'text' | 'column' | 'width'>, other: typeof one): boolean {
  const { bold, dim, italic, underline, colour, inverse } = other;
  return (
    one.bold === bold &&
    one.dim === dim &&
    one.italic === italic &&
    one.underline === underline &&
    one.colour === colour &&
    one.inverse === inverse
  );
}
