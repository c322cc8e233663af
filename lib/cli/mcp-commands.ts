import { type Command, Option } from 'commander';
import type { World } from './base/world.js';
import { mcpAddCommand } from './mcp/mcp-add.js';
import { mcpApproveCommand } from './mcp/mcp-approve.js';
import { mcpListCommand } from './mcp/mcp-list.js';
import { mcpLogCommand } from './mcp/mcp-log.js';
import { mcpLoginCommand } from './mcp/mcp-login.js';
import { mcpLogoutCommand } from './mcp/mcp-logout.js';
import { mcpRemoveCommand } from './mcp/mcp-remove.js';
import { mcpTestCommand } from './mcp/mcp-test.js';
import { mergedOptions } from './merged-options.js';
import { subcommands } from './subcommands.js';

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
  add('add', 'start a server once, show its tools, and add it to config.json')
    .argument('<name>', 'the name to give it')
    .argument('<command...>', 'its address, or -- and the program with its arguments')
    .option('-e, --env <assignment...>', 'a variable of its environment: NAME=VALUE')
    .option('-H, --header <header...>', "a header of every request: 'Name: value'")
    .addOption(new Option('-t, --transport <kind>', 'the transport for an address').choices(['http', 'sse']))
    .option('--no-test', 'do not start it')
    .action(async (name: string, words: readonly string[], _options, self: Command) =>
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
