import type { SlashCommand, SlashEvent } from '../../slash/common/command.js';
import { argumentOf } from './fill-in.js';
import { findOwnCommands, type OwnCommand, readOwnCommand } from './own-command.js';
import { type OwnInputDeps, ownInput } from './own-input.js';

/** The user's own commands as slash commands. One with a name in `others` is left out, so that built-in commands keep their meaning. */
export async function ownSlashCommands(
  folder: string,
  others: readonly SlashCommand[],
  deps: OwnInputDeps,
): Promise<readonly SlashCommand[]> {
  const taken = new Set(others.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const own = findOwnCommands(folder).filter(({ name }) => !taken.has(name));
  return await Promise.all(own.map((command) => asSlashCommand(command, deps)));
}

async function asSlashCommand(command: OwnCommand, deps: OwnInputDeps): Promise<SlashCommand> {
  const { name } = command;
  const text = await readOwnCommand(command).catch(() => null);
  const hint = text?.argumentHint ?? '[arguments]';
  return {
    name,
    usage: `/${name} ${hint}`,
    summary: text?.description ?? 'cannot be read',
    takesWords: true,
    async *run(argument, { session }, signal): AsyncGenerator<SlashEvent> {
      const current = await readOwnCommand(command);
      const { input, notice } = await ownInput(current, argumentOf(argument), deps, signal);
      if (notice !== null) yield { type: 'notice', level: 'info', text: notice };
      yield* session.send(input, signal, { model: current.model });
    },
  };
}
