import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { HiError } from '../../errors.js';
import type { Output, World } from '../base/world.js';

/** Clipboard programs, each with the variable that must be set for it to work. */
const PROGRAMS = [
  { needs: 'WAYLAND_DISPLAY', command: ['wl-copy'] },
  { needs: 'DISPLAY', command: ['xclip', '-selection', 'clipboard'] },
  { needs: 'DISPLAY', command: ['xsel', '--clipboard', '--input'] },
  { needs: null, command: ['pbcopy'] },
  { needs: null, command: ['clip.exe'] },
] as const;

/** How long a program may take: it waits for ever when its display does not answer. Milliseconds. */
const PROGRAM_TIMEOUT = 3000;

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
 * Puts a text on the clipboard with the first program that takes it, else with the terminal's sequence OSC 52. Resolves to the method that worked.
 * Throws a `HiError` of code `usage` where there is neither.
 */
export async function copyText(text: string, world: World, terminal: Output): Promise<string> {
  for (const { needs, command } of PROGRAMS) {
    if ((needs === null || world.env[needs]) && (await pipeTo(command, text))) return command[0];
  }
  if (!terminal.isTTY) {
    throw new HiError('usage', 'Cannot copy: no clipboard program works here, and there is no terminal.', {
      hint: "Install wl-copy, xclip or xsel, or redirect the output of 'hi ask'.",
    });
  }
  terminal.write(`\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`);
  return TERMINAL_SEQUENCE;
}

async function pipeTo([program, ...args]: readonly [string, ...string[]], text: string): Promise<boolean> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: PROGRAM_TIMEOUT });
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(text);
  try {
    const [status] = await once(child, 'close');
    return status === 0;
  } catch {
    return false;
  }
}
