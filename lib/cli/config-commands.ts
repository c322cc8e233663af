import type { Command } from 'commander';
import { addModelOptions } from './base/add-options.js';
import type { World } from './base/world.js';
import { mergedOptions } from './merged-options.js';
import { subcommands } from './subcommands.js';

/** Adds the commands below `hi config`. Calls `finish` with the exit status. */
export function addConfigCommands(
  config: Command,
  program: Command,
  world: World,
  finish: (status: number) => void,
): void {
  const add = subcommands(config, program, world, finish);
  add('init', 'set up step by step').action(async (_options, self: Command) =>
    finish(await (await import('./commands/config-command.js')).configInitCommand(world, mergedOptions(self))),
  );
  add('check', 'check everything, and say how to fix what fails')
    .option('--live', 'also make one small call to the model')
    .action(async (_options, self: Command) =>
      finish(await (await import('./commands/config-command.js')).configCheckCommand(world, mergedOptions(self))),
    );
  addModelOptions(add('show', 'print the effective settings, keys masked')).action(async (_options, self: Command) =>
    finish(await (await import('./commands/config-command.js')).configShowCommand(world, mergedOptions(self))),
  );
  add('path', 'print where the files are')
    .option('--json', 'print as JSON')
    .action(async (_options, self: Command) =>
      finish(await (await import('./commands/config-command.js')).configPathCommand(world, mergedOptions(self))),
    );
  add('schema', 'print the JSON Schema of config.json').action(async () =>
    finish(await (await import('./commands/config-command.js')).configSchemaCommand(world)),
  );
}
