import type { Command } from 'commander';
import { addCommonOptions } from './base/add-options.js';
import type { World } from './base/world.js';
import { unknownCommand } from './usage-error.js';

/** Makes a command one of several below it, whose help it prints by itself. Returns what adds one of these. */
export function subcommands(
  parent: Command,
  program: Command,
  world: World,
  finish: (status: number) => void,
): (name: string, description: string) => Command {
  parent.argument('[command...]').action(async (words: readonly string[]) => {
    if (words.length > 0) throw await unknownCommand(words, parent);
    world.stdout.write(parent.helpInformation());
    finish(0);
  });
  return (name, description) =>
    addCommonOptions(
      parent
        .command(name)
        .description(description)
        .exitOverride()
        .helpOption('-h, --help', 'print this help')
        .copyInheritedSettings(program),
    );
}
