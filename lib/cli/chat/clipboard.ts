import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { HiError } from '../../errors.js';
import { ownProgram } from '../../own-programs.js';
import type { OutputStream } from '../../screen/output-stream.js';
import type { World } from '../base/world.js';

/** A program that takes a text for the clipboard on its stdin. */
interface ClipboardProgram {
  /** The variable that is set where it works. */
  readonly needs: string | null;
  readonly command: readonly [string, ...string[]];
  /** How the text is encoded for it; UTF-8 when absent. */
  readonly encoding?: BufferEncoding;
  /** Further variables for it. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * In the order they are tried. `tmux load-buffer -w` fills tmux's buffer and hands the text to the terminal, which tmux keeps programs inside it from doing
 * by themselves (`set-clipboard external`, its default). `clip.exe` reads anything but UTF-16 as the old code page of Windows, and `pbcopy` does the like
 * where the locale does not say UTF-8.
 */
const PROGRAMS: readonly ClipboardProgram[] = [
  { needs: 'WAYLAND_DISPLAY', command: ['wl-copy'] },
  { needs: 'DISPLAY', command: ['xclip', '-selection', 'clipboard'] },
  { needs: 'DISPLAY', command: ['xsel', '--clipboard', '--input'] },
  { needs: null, command: ['pbcopy'], env: { LC_CTYPE: 'UTF-8' } },
  { needs: null, command: ['clip.exe'], encoding: 'utf16le' },
  { needs: 'TMUX', command: ['tmux', 'load-buffer', '-w', '-'] },
];

/** How long a program may take: it waits for ever when its display does not answer. Milliseconds. */
const PROGRAM_TIMEOUT = 3000;

/** Terminals take no longer sequence: xterm and tmux drop it in silence. */
const LONGEST_SEQUENCE = 100_000;

const TERMINAL_SEQUENCE = 'terminal sequence OSC 52';

/** The method that `copyText` tries first. */
export function clipboardMethod({ env }: World): string {
  const folders = (env.PATH ?? '').split(delimiter);
  const found = PROGRAMS.find(
    ({ needs, command }) =>
      (needs === null || env[needs]) && folders.some((folder) => isProgram(join(folder, command[0]))),
  );
  return found?.command[0] ?? TERMINAL_SEQUENCE;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Puts a text on the clipboard with the first program that takes it, else with the terminal's sequence OSC 52. Resolves to what happened, in words: whether
 * a terminal obeys the sequence cannot be known. Throws a `HiError` of code `usage` where there is no way.
 */
export async function copyText(text: string, world: World, terminal: OutputStream): Promise<string> {
  for (const program of PROGRAMS) {
    if ((program.needs === null || world.env[program.needs]) && (await pipeTo(program, text, world)))
      return `Copied with ${program.command[0]}`;
  }
  if (!terminal.isTTY) {
    throw new HiError('usage', 'Cannot copy: no clipboard program works, and there is no terminal.', {
      hint: "Install wl-copy, xclip or xsel, or redirect the output of 'hi ask'.",
    });
  }
  const sequence = `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
  if (sequence.length > LONGEST_SEQUENCE) {
    throw new HiError('usage', `Cannot copy ${text.length} characters: terminals do not accept that many (OSC 52).`, {
      hint: 'Install wl-copy, xclip or xsel, or write the conversation to a file with /export.',
    });
  }
  terminal.write(world.env.STY ? throughScreen(sequence) : sequence);
  return 'Sent to the terminal for copying (OSC 52)';
}

/** GNU screen passes on what stands in a device control string, of at most 768 bytes each. */
function throughScreen(sequence: string): string {
  return (sequence.match(/[\s\S]{1,700}/g) ?? []).map((piece) => `\x1bP${piece}\x1b\\`).join('');
}

async function pipeTo(
  { command, encoding = 'utf8', env: more = {} }: ClipboardProgram,
  text: string,
  { env }: World,
): Promise<boolean> {
  const [program, ...args] = command;
  const child = spawn(ownProgram(program, env), args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: PROGRAM_TIMEOUT,
    env: { ...env, ...more },
  });
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(Buffer.from(text, encoding));
  try {
    const [status] = await once(child, 'close');
    return status === 0;
  } catch {
    return false;
  }
}
