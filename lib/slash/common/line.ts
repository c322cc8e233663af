import { HiError } from '../../errors.js';
import type { SlashCommand } from './command.js';

/** The kinds of input line. */
export type Line =
  /** Only white space. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'message' }
  | { readonly kind: 'command'; readonly name: string; readonly argument: string }
  /** A shell command of the user's own. With `shared`, its output goes into the conversation. */
  | { readonly kind: 'shell'; readonly command: string; readonly shared: boolean };

/**
 * Reads a line by how it starts on the screen: `/name` is a slash command, `//x` the message `/x`, `!cmd` runs a
 * command and shares its output, `!!cmd` only runs it. A line that starts with a path, such as `/etc/hosts`, is a
 * message: no command has a slash in its name.
 */
export function parseLine(shown: string): Line {
  const line = shown.trim();
  if (line === '') return { kind: 'empty' };
  const shell = /^(!!?)\s*([\s\S]*)$/.exec(line);
  if (shell) return { kind: 'shell', command: shell[2] ?? '', shared: shell[1] === '!' };
  const command = /^\/([^/\s]*)(?:\s+([\s\S]*))?$/.exec(line);
  if (command) return { kind: 'command', name: command[1] ?? '', argument: (command[2] ?? '').trim() };
  return { kind: 'message' };
}

/**
 * Throws a `HiError` of code `usage` for an argument that the command would ignore: any if it takes none, and options
 * it does not have.
 */
export function checkArgument(command: SlashCommand, argument: string): void {
  const { name, usage, options, takesWords, isOnCommandLine } = command;
  if (argument === '' || takesWords || options?.includes(argument)) return;
  const option = /^--[^\s=]+/.exec(argument)?.[0];
  const elsewhere =
    option !== undefined && isOnCommandLine ? ` Options work on the command line: hi ${name} ${argument}` : '';
  const type = `Type: ${usage}${elsewhere === '' ? '' : '.'}`;
  if (options !== undefined) {
    throw new HiError('usage', `Unknown argument '${argument}' for /${name}.`, {
      hint: `Known: ${options.join(', ')}.`,
    });
  }
  if (option !== undefined) {
    throw new HiError('usage', `/${name} has no option '${option}'.`, { hint: `${type}${elsewhere}` });
  }
  if (usage === `/${name}`) throw new HiError('usage', `/${name} takes no argument: '${argument}'.`, { hint: type });
}
