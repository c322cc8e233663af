import { type Command, Option } from 'commander';
import { addCommonOptions, addModelOptions } from './base/add-options.js';
import { mergedOptions } from './base/options.js';
import type { World } from './base/world.js';
import {
  configCheckCommand,
  configEditCommand,
  configInitCommand,
  configPathCommand,
  configSchemaCommand,
  configSetCommand,
  configShowCommand,
} from './commands/config-command.js';
import { mcpAddCommand, mcpApproveCommand, mcpRemoveCommand } from './commands/mcp-add.js';
import { mcpListCommand, mcpLogCommand, mcpTestCommand } from './commands/mcp-list.js';
import { mcpLoginCommand, mcpLogoutCommand } from './commands/mcp-login.js';
import { unknownCommand } from './report-error.js';

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
  add('set', 'set one setting in config.json: hi config set compaction.keep_recent 8')
    .argument('<key>', 'the name of the setting')
    .argument('<value>', 'its value: text, or JSON')
    .action(async (key: string, value: string, _options, self: Command) =>
      finish(await configSetCommand(world, key, value, mergedOptions(self))),
    );
  add('edit', 'open config.json in your editor, and check it').action(async (_options, self: Command) =>
    finish(await configEditCommand(world, mergedOptions(self))),
  );
  add('path', 'print where the files are')
    .option('--json', 'print as JSON')
    .action(async (_options, self: Command) => finish(await configPathCommand(world, mergedOptions(self))));
  add('schema', 'print the JSON Schema of config.json').action(async () => finish(await configSchemaCommand(world)));
}

/** Adds the commands below `hi mcp`. Calls `finish` with the exit status. */
export function addMcpCommands(mcp: Command, program: Command, world: World, finish: (status: number) => void): void {
  const add = subcommands(mcp, program, world, finish);
  add('list', 'list the servers, their state and the size of their tools; starts none')
    .option('--json', 'print as JSON')
    .action(async (_options, self: Command) => finish(await mcpListCommand(world, mergedOptions(self))));
  add('test', 'start a server, and print what it offers')
    .argument('<server>', 'the name of a configured server, or an address')
    .option('--call <call>', 'also call a tool: NAME, or NAME={"argument":"value"}')
    .option('--json', 'print as JSON')
    .action(async (server: string, _options, self: Command) =>
      finish(await mcpTestCommand(world, server, mergedOptions(self))),
    );
  add('add', 'start a server once, show its tools, and add it to config.json; or add those of another program')
    .argument('[name]', 'the name to give it')
    .argument('[command...]', 'its address, or -- and the program with its arguments')
    .option('-e, --env <assignment...>', 'a variable of its environment: NAME=VALUE')
    .option('-H, --header <header...>', "a header of every request: 'Name: value'")
    .addOption(new Option('-t, --transport <kind>', 'the transport for an address').choices(['http', 'sse']))
    .option('--no-test', 'do not start it')
    .addOption(
      new Option(
        '--from <program>',
        "list another program's servers, and add those named or chosen; starts none",
      ).conflicts(['env', 'header', 'transport']),
    )
    .action(async (name: string | undefined, words: readonly string[], _options, self: Command) =>
      finish(await mcpAddCommand(world, name, words, mergedOptions(self))),
    );
  add('remove', 'remove a server from config.json, with its login and its log')
    .argument('<name>', 'the name of a configured server')
    .action(async (name: string, _options, self: Command) =>
      finish(await mcpRemoveCommand(world, name, mergedOptions(self))),
    );
  add('approve', 'show the servers of the project (.mcp.json), and ask whether hi may start them')
    .argument('[name...]', 'only these')
    .action(async (names: readonly string[], _options, self: Command) =>
      finish(await mcpApproveCommand(world, names, mergedOptions(self))),
    );
  add('login', 'log in to a server with the browser')
    .argument('<name>', 'the name of a configured server')
    .action(async (name: string, _options, self: Command) =>
      finish(await mcpLoginCommand(world, name, mergedOptions(self))),
    );
  add('logout', 'log out of a server')
    .argument('<name>', 'the name of a server')
    .action(async (name: string, _options, self: Command) =>
      finish(await mcpLogoutCommand(world, name, mergedOptions(self))),
    );
  add('log', 'print the log of a server')
    .argument('<name>', 'the name of a server')
    .action(async (name: string, _options, self: Command) =>
      finish(await mcpLogCommand(world, name, mergedOptions(self))),
    );
}

/** Makes a command one of several below it, whose help it prints by itself. Returns what adds one of these. */
function subcommands(
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
