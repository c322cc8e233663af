import type { Command } from 'commander';
import { addModelOptions } from './base/add-options.js';
import type { World } from './base/world.js';
import {
  configCheckCommand,
  configInitCommand,
  configPathCommand,
  configSchemaCommand,
  configShowCommand,
} from './commands/config-command.js';
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
    finish(await configInitCommand(world, mergedOptions(self))),
  );
  add('check', 'check everything, and say how to fix what fails')
    .option('--live', 'also make one small call to the model')
    .action(async (_options, self: Command) => finish(await configCheckCommand(world, mergedOptions(self))));
  addModelOptions(add('show', 'print the effective settings, keys masked')).action(async (_options, self: Command) =>
    finish(await configShowCommand(world, mergedOptions(self))),
  );
  add('path', 'print where the files are')
    .option('--json', 'print as JSON')
    .action(async (_options, self: Command) => finish(await configPathCommand(world, mergedOptions(self))));
  add('schema', 'print the JSON Schema of config.json').action(async () => finish(await configSchemaCommand(world)));
}
