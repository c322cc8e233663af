import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import truncatedWidth from 'fast-string-truncated-width';
import { percent } from '../../chat/text.js';
import type { Config } from '../../config/config.js';
import { asksForPlainLines } from '../../config/resolve.js';
import { makeFolder } from '../../disk.js';
import { HiError } from '../../errors.js';
import { listenToProgress } from '../../history/base/notices.js';
import type { HistoryStore } from '../../history/store.js';
import type { OutputStream } from '../../screen/output-stream.js';
import { waitText } from '../../screen/print.js';
import type { OutputStreams } from '../../screen/screen.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { listenToWaits, monotonic } from '../../waits.js';
import type { World } from './world.js';

/**
 * The output streams for the screen. Links are not for the Linux console and Emacs, which print unknown sequences.
 * Honours NO_COLOR and FORCE_COLOR.
 */
export function outputStreams(world: World): OutputStreams {
  const { stdout, stderr, env } = world;
  return {
    out: stdout,
    err: stderr,
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal: stderr.isTTY === true,
    colour: { out: hasColour(stdout, env), err: hasColour(stderr, env) },
    links: hasColour(stdout, env) && !/^(?:linux|eterm)/.test(env.TERM ?? ''),
    columns: () => stdout.columns ?? stderr.columns ?? 80,
  };
}

/** Whether text on that stream may be coloured. */
export function hasColour(stream: OutputStream, env: World['env']): boolean {
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  if (env.NO_COLOR || isDumb(env)) return false;
  return stream.isTTY === true;
}

/** Whether the terminal can only print: no colour and no cursor movement. */
export function isDumb(env: World['env']): boolean {
  return env.TERM === 'dumb';
}

/** Whether no terminal is involved, as in a script that nobody watches. */
export function isUnattended({ stdinIs, stdout, stderr }: World): boolean {
  return stdinIs !== 'terminal' && stdout.isTTY !== true && stderr.isTTY !== true;
}

/** Whether the user can be asked before a tool runs: on a terminal that can draw a menu. */
export function canApprove(world: World): boolean {
  return world.stderr.isTTY === true && world.stdinIs === 'terminal' && !isDumb(world.env);
}

/**
 * Whether a turn can ask the user, also where the question was piped in: as `ssh` and `sudo` do, it then asks the
 * terminal itself.
 */
export function canAskInTurn(world: World): boolean {
  if (world.stdinIs !== 'piped') return canApprove(world);
  return world.stderr.isTTY === true && !isDumb(world.env) && world.hasTerminal;
}

/**
 * Writes texts one after the other and waits for each, so that nothing piles up in memory. Stops where the reader
 * leaves.
 */
export async function writeAll(to: OutputStream, texts: AsyncIterable<string>): Promise<void> {
  // Only a write's own callback reports that the reader left: Node's stdout forgets every error at once.
  let open = true;
  for await (const text of texts) {
    await new Promise<void>((resolve) => {
      to.write(text, (error) => {
        open &&= !error;
        resolve();
      });
    });
    if (!open) return;
  }
}

/**
 * Prints the pending notices of the history on stderr: that it was repaired, that a crash cut a turn short. Each is
 * printed once.
 */
export function printHistoryNotices(world: World, history: HistoryStore): void {
  printNotices(world, history.takeNotices());
}

/** Prints notices on stderr. */
export function printNotices(world: World, notices: readonly string[]): void {
  for (const notice of notices) world.stderr.write(neutralise(`hi: ${notice}\n`));
}

/**
 * What a chat is held on: a terminal, a terminal that can only print (`TERM=dumb`), or none, where each line of stdin
 * is a turn.
 */
export type ChatTerminal = 'full' | 'dumb' | 'none';

export function chatTerminal(world: World): ChatTerminal {
  if (world.stdinIs !== 'terminal' || world.stdout.isTTY !== true) return 'none';
  return isDumb(world.env) ? 'dumb' : 'full';
}

/** How often the line is drawn, in milliseconds. */
const INTERVAL = 100;

/** Shorter work shows no line. Milliseconds. */
const WORTH = 1000;

/**
 * A line on stderr that shows progress. It is drawn in place, only on a terminal, after a second, and leaves no trace.
 */
export class ProgressLine {
  readonly #stderr: World['stderr'];
  readonly #isShown: boolean;
  #nextAt: number;
  /** What is drawn; null if nothing is. */
  #drawn: string | null = null;

  constructor({ stderr, env }: Pick<World, 'stderr' | 'env'>, { after = WORTH }: { readonly after?: number } = {}) {
    this.#stderr = stderr;
    this.#isShown = stderr.isTTY === true && !isDumb(env);
    this.#nextAt = monotonic() + after;
  }

  /** Draws the text, which is made for a number of columns, if it is due. */
  show(text: (columns: number) => string): void {
    const now = monotonic();
    if (!this.#isShown || now < this.#nextAt) return;
    this.#nextAt = now + INTERVAL;
    // Leaves one column free: a line as wide as the terminal would wrap, and erasing clears one row only.
    const columns = Math.max(1, (this.#stderr.columns ?? 80) - 1);
    const shown = text(columns);
    if (shown === this.#drawn) return;
    this.#drawn = shown;
    const { index } = truncatedWidth(shown, { limit: columns, ellipsis: '' });
    this.#stderr.write(`\r${shown.slice(0, index)}\x1b[K`);
  }

  /** Shows the completed share as a percentage. */
  showShare(what: string, done: number, all: number): void {
    this.show(() => `${what}: ${percent(all === 0 ? 1 : Math.min(1, done / all))}`);
  }

  erase(): void {
    if (this.#drawn !== null) this.#stderr.write('\r\x1b[K');
    this.#drawn = null;
  }
}

let line: ProgressLine | null = null;

/** From now on, shows the progress of work on the history that takes longer than a second. */
export function showHistoryProgress(world: World): void {
  if (world.stderr.isTTY !== true || isDumb(world.env)) return;
  listenToProgress((what, done, all) => {
    if (done >= all) return erase();
    line ??= new ProgressLine(world);
    line.showShare(what, done, all);
  });
}

/** Stops showing progress, because something else uses the terminal. */
export function hideHistoryProgress(): void {
  listenToProgress(null);
  erase();
}

function erase(): void {
  line?.erase();
  line = null;
}

/** Ends the line that says what the program waits for. */
let endWaitLine: (() => void) | null = null;

/** False with `--quiet`, and where stderr is no terminal. */
let areWaitsShown = false;

/**
 * From now on, says on stderr what the program waits for and since when, once that takes longer than a second: on a
 * line in place, or where nothing may be redrawn on one of its own.
 */
export function showWaits(world: World, isPlain = asksForPlainLines(world.env)): void {
  const { stderr, env } = world;
  if (stderr.isTTY !== true) return;
  areWaitsShown = true;
  const isLine = isPlain || isDumb(env);
  listenToWaits((wait) => {
    endWaitLine?.();
    endWaitLine = null;
    if (wait === null) return;
    const drawn = new ProgressLine(world);
    const timer = isLine
      ? setTimeout(() => stderr.write(`${waitText(wait)}\n`), WORTH)
      : setInterval(() => drawn.show(() => waitText(wait)), INTERVAL);
    endWaitLine = () => {
      clearInterval(timer);
      drawn.erase();
    };
  });
}

/** Leaves it to the screen from now on, which has a line for it unless nothing may be redrawn. */
export function leaveWaitsToScreen(world: World, { screen_reader }: Pick<Config, 'screen_reader'>): void {
  listenToWaits(null);
  endWaitLine?.();
  endWaitLine = null;
  if (areWaitsShown && (screen_reader || isDumb(world.env))) showWaits(world, true);
}

/**
 * Opens the log of `--debug`; the function it returns appends a line with the time. Only the user can read the
 * file. Each line is on disk when the call returns, so that the log of a crash is complete. Throws a `HiError` of code
 * `config` that names the file.
 */
export function openDebugLog(path: string): (line: string) => void {
  const write = (text: string): void => appendFileSync(path, text, { mode: 0o600 });
  try {
    makeFolder(dirname(path), 0o700);
    write('');
  } catch (cause) {
    throw new HiError(
      'config',
      `Cannot write the debug log '${path}': ${cause instanceof Error ? cause.message : cause}`,
      {
        hint: 'Set HI_CACHE_DIR to a folder you can write to, or run without --debug.',
        cause,
      },
    );
  }
  return (line) => write(`${new Date().toISOString()} ${neutralise(line)}\n`);
}
