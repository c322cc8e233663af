import { ServerLog } from '../../mcp/connection/server-log.js';
import { readRegularFile } from '../../regular-file.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers } from '../base/configured-servers.js';
import { shownText } from '../base/shown.js';
import type { World } from '../base/world.js';

/** Prints what a server printed that was no message. Resolves to the exit status. */
export async function mcpLogCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const { paths } = await configuredServers(world, options);
  const { path } = new ServerLog(paths.servers, name);
  const text = [`${path}.old`, path].map(textOf).join('');
  world.stdout.write(shownText(text, world.stdout));
  if (text === '' && !options.quiet) world.stderr.write(`There is no log of '${name}': '${path}'.\n`);
  return 0;
}

function textOf(path: string): string {
  try {
    return readRegularFile(path).toString();
  } catch {
    return '';
  }
}
