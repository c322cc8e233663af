import { HiError } from '../../errors.js';
import type { SlashCommand } from './command.js';

/** Throws a `HiError` of code `usage` for an argument that the command would ignore: any if it takes none, and options it does not have. */
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
