import type { Command } from 'commander';
import { HiError } from '../errors.js';
import { BY_MODEL } from '../processes.js';
import type { World } from './base/world.js';

/** The commands that change nothing of the user's. A question does not either if it is not recorded. */
const READING = new Set([
  ...['history', 'recall', 'memory', 'status', 'usage', 'skills', 'completion', 'shell-init'],
  ...['config check', 'config show', 'config path', 'config schema', 'mcp list', 'mcp log'],
]);

/** Whether a command of the model, or a server, started this program. */
export const isByModel = ({ env }: Pick<World, 'env'>): boolean => Boolean(env[BY_MODEL]);

/**
 * Throws a `HiError` of code `usage` if the command would change what is only the user's to change: the words of a
 * model would count as theirs.
 */
export function refuseByModel(command: Command): void {
  const name = nameOf(command);
  const { ephemeral } = command.opts<{ readonly ephemeral?: boolean }>();
  if (READING.has(name) || (['', 'ask'].includes(name) && ephemeral === true)) return;
  throw refusal(name);
}

/** The error for a command that the model started. */
export function refusal(name: string): HiError {
  const whole = `hi ${name}`.trim();
  return new HiError('usage', `'${whole}' is for the user to run, and a command of the model started it.`, {
    hint:
      name === '' || name === 'ask'
        ? "Use 'hi ask --ephemeral', which records nothing."
        : `The user can run it in a terminal, or in the chat: !${whole}`,
  });
}

/** The names from the program's first command on: `mcp add`; empty for the program itself. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${nameOf(parent)} ${command.name()}`.trim();
}
