import { statSync } from 'node:fs';
import { win32 } from 'node:path';
import type { ShellCommand } from '../../shell-command.js';

/** What of the system finds a program. A spec passes its own. */
export interface ProgramSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  isFile(path: string): boolean;
}

const USUAL_EXTENSIONS = '.COM;.EXE;.BAT;.CMD';

/**
 * How Windows starts a program of an MCP server. Node finds only `.exe` and `.com` files by their names, but `npx`, `npm` and most other commands are `.cmd`
 * files, which it refuses to start without a shell. A program that is not found stays as it is.
 */
export function windowsCommand(command: string, args: readonly string[], search: ProgramSearch): ShellCommand {
  const found = programFile(command, search);
  if (found === null || !/\.(?:cmd|bat)$/i.test(found))
    return { file: found ?? command, args, options: { windowsHide: true } };
  const line = [escaped(found), ...args.map(escapedArgument)].join(' ');
  return {
    file: variable(search.env, 'ComSpec') || 'cmd.exe',
    args: ['/d', '/s', '/c', `"${line}"`],
    options: { windowsVerbatimArguments: true, windowsHide: true },
  };
}

/** True for a regular file. Never throws. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

/** The file of a program: the first in PATH with one of the extensions of PATHEXT. Unlike `cmd.exe`, it does not begin in the working folder. */
function programFile(command: string, { env, cwd, isFile }: ProgramSearch): string | null {
  const extensions = (variable(env, 'PATHEXT') || USUAL_EXTENSIONS).split(';').filter((extension) => extension !== '');
  const folders = /[\\/:]/.test(command) ? [cwd] : (variable(env, 'PATH') ?? '').split(';').filter(win32.isAbsolute);
  const own = win32.extname(command).toLowerCase();
  const hasOwn = extensions.some((extension) => extension.toLowerCase() === own);
  for (const folder of folders)
    for (const extension of [...(hasOwn ? [''] : []), ...extensions]) {
      const file = win32.resolve(folder, command) + extension;
      if (isFile(file)) return file;
    }
  return null;
}

/** The names of variables have no case on Windows. */
function variable(env: ProgramSearch['env'], name: string): string | undefined {
  const key = Object.keys(env).find((other) => other.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

/** Twice, because the file passes its arguments on, and `cmd.exe` reads that line, too. */
function escapedArgument(arg: string): string {
  // A program reads `\"` as a quote, and backslashes before one in pairs.
  const inner = arg.split('"').map(withPairs).join('\\"');
  return escaped(escaped(`"${inner}"`));
}

/** Doubles the backslashes at the end. */
function withPairs(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\\') end -= 1;
  return text + text.slice(end);
}

function escaped(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
}
