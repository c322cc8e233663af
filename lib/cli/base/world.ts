import { closeSync, fstatSync, openSync, type Stats, statSync, writeSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { PassThrough, type Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { STOP_SIGNALS, statusAfter } from '../../processes.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { interruptWaits } from '../../waits.js';

/** A stream of the process that may be a terminal. */
export type Input = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };

/** Everything outside the program. A spec passes its own. */
export interface World {
  /** The arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  /** The name of the machine. */
  readonly host: string;
  readonly stdin: Input;
  /**
   * What stdin is, determined without opening it: a terminal; a pipe, a file or a socket; or nothing, such as
   * /dev/null.
   */
  readonly stdinIs: 'terminal' | 'piped' | 'nothing';
  /** Whether the process has a terminal, whatever its streams are. */
  readonly hasTerminal: boolean;
  /** Opens the keys of that terminal; null without one. Destroy them. */
  openKeys(): Input | null;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /**
   * Writes a short text to stdout without opening the stream, because opening it takes as long as printing the version.
   * A closed pipe is not an error.
   */
  print(text: string): void;
  now(): Date;
  /**
   * Calls back when the process is asked to stop (Ctrl-C, SIGTERM, SIGHUP). Returns the function that removes the
   * callback.
   */
  onStop(callback: (signal: NodeJS.Signals) => void): () => void;
}

/** A command's reaction to being asked to stop. */
export interface Stopping {
  readonly signal: AbortSignal;
  /** The exit status after the first signal; null before one. */
  readonly status: number | null;
  /** Leaves later signals to others. */
  release(): void;
}

/** Stops a command when the process is asked to. */
export function stoppingOf({ onStop }: Pick<World, 'onStop'>): Stopping {
  const stop = new AbortController();
  let status: number | null = null;
  const release = onStop((signal) => {
    status ??= statusAfter(signal);
    stop.abort();
  });
  return {
    signal: stop.signal,
    get status() {
      return status;
    },
    release,
  };
}

/** The world of the running process. */
export function realWorld(): World {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: workingFolder(),
    get home() {
      return homedir();
    },
    get host() {
      return hostname();
    },
    get stdin() {
      return process.stdin;
    },
    get stdinIs() {
      return stdinKind();
    },
    get hasTerminal() {
      const fd = terminalFile();
      if (fd !== null) closeSync(fd);
      return fd !== null;
    },
    openKeys: () => openTerminal()?.keys ?? null,
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    print,
    now: () => new Date(),
    onStop(callback) {
      const listener = (signal: NodeJS.Signals): void => {
        callback(signal);
        interruptWaits();
      };
      for (const signal of STOP_SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of STOP_SIGNALS) process.off(signal, listener);
      };
    },
  };
}

/** The current folder; when it was removed meanwhile, the path the shell remembers. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD ?? '/';
  }
}

function print(text: string): void {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch {
    // The stream waits for a full pipe and ignores a closed one.
    process.stdout.on('error', () => undefined);
    process.stdout.write(rest);
  }
}

function stdinKind(): World['stdinIs'] {
  try {
    const stats = fstatSync(0);
    if (stats.isFIFO() || stats.isFile() || stats.isSocket()) return 'piped';
    if (isNullDevice(stats)) return 'nothing';
    return isatty(0) ? 'terminal' : 'nothing';
  } catch {
    return 'nothing';
  }
}

/**
 * Whether this is the null device, and so not a terminal. Does not load `node:tty`, which loads all of Node's streams.
 */
export function isNullDevice(stats: Stats): boolean {
  try {
    return stats.isCharacterDevice() && stats.rdev === statSync('/dev/null').rdev;
  } catch {
    return false;
  }
}

/** The terminal of the process, whatever its streams are; null without one. Destroying the keys closes it. */
export function openTerminal(): { readonly fd: number; readonly keys: ReadStream } | null {
  const fd = terminalFile();
  if (fd === null) return null;
  try {
    return { fd, keys: new ReadStream(fd) };
  } catch {
    closeSync(fd);
    return null;
  }
}

function terminalFile(): number | null {
  try {
    return openSync('/dev/tty', 'r+');
  } catch {
    return null;
  }
}

/** A world that reads and writes nothing: enough to list the commands. */
export function emptyWorld(): World {
  const nothing = new PassThrough();
  return {
    argv: [],
    env: {},
    cwd: '/',
    home: '/',
    host: '',
    stdin: nothing,
    stdinIs: 'nothing',
    hasTerminal: false,
    openKeys: () => null,
    stdout: nothing,
    stderr: nothing,
    print: () => undefined,
    now: () => new Date(0),
    onStop: () => () => undefined,
  };
}
