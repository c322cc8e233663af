import { type Command, CommanderError } from 'commander';
import { HiError } from '../errors.js';
import { suggestion } from '../registry.js';

/** The error for an unknown command, which suggests the nearest one. */
export function unknownCommand(typed: string, parent: Command): HiError {
  const names = parent.commands.map((command) => command.name());
  return new HiError('usage', `Unknown command '${typed}'.`, {
    hint: `${suggestion(typed, names)} To ask a question, run: hi ask "…"`,
  });
}

/** An error of commander as a `HiError`; null after help or version, which it throws too. */
export function asUsageError(thrown: unknown): unknown {
  if (!(thrown instanceof CommanderError)) return thrown;
  if (thrown.exitCode === 0 || thrown.code === 'commander.help') return null;
  const [first = '', ...rest] = thrown.message
    .replace(/^error: /, '')
    .replace(/\.{1,3}$/, '')
    .split('\n');
  const hint = rest.join(' ').replace(/^\(|\)$/g, '');
  return new HiError('usage', `${first.charAt(0).toUpperCase()}${first.slice(1)}.`, {
    hint: `${hint === '' ? '' : `${hint} `}Run 'hi --help' for usage.`,
  });
}
