import type { Command } from 'commander';
import { addCommonOptions } from './base/command-options.js';
import type { World } from './base/world.js';
import { mergedOptions } from './merged-options.js';
import { unknownCommand } from './usage-error.js';

/** Adds the commands below `hi mcp`. Calls `finish` with the exit status. */
export function addMcpCommands(mcp: Command, program: Command, world: World, finish: (status: number) => void): void {
  const add = (name: string, description: string): Command =>
    addCommonOptions(
      mcp
        .command(name)
        .description(description)
        .exitOverride()
        .helpOption('-h, --help', 'print this help')
        .copyInheritedSettings(program),
    );
  add('list', 'list the servers, and what is known of their tools; starts none')
    .option('--json', 'print as JSON')
    .action(async (_options, self: Command) =>
      finish(await (await import('./mcp/mcp-list.js')).mcpListCommand(world, mergedOptions(self))),
    );
  add('test', 'start a server, and print what it offers')
    .argument('<server>', 'the name of a configured server, or an address')
    .option('--call <call>', 'also call a tool: NAME, or NAME={"argument":"value"}')
    .option('--json', 'print as JSON')
    .action(async (server: string, _options, self: Command) =>
      finish(await (await import('./mcp/mcp-test.js')).mcpTestCommand(world, server, mergedOptions(self))),
    );
  mcp.argument('[command...]').action(([typed]: readonly string[]) => {
    if (typed !== undefined) throw unknownCommand(typed, mcp);
    world.stdout.write(mcp.helpInformation());
    finish(0);
  });
}
