import { ServerLog } from '../../mcp/connection/server-log.js';
import { readRegularFile } from '../../regular-file.js';
import { neutralise } from '../../screen/text/neutralise.js';
import type { CommonOptions } from '../base/command-options.js';
import { type ConfiguredServers, configuredServers, usableServers } from '../base/configured-servers.js';
import type { World } from '../base/world.js';
import { unknownServer } from './find-server.js';

/** Prints what a server printed that was not a message. Resolves to the exit status. Throws a `HiError` where neither a log nor a server has that name. */
export async function mcpLogCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const { paths } = configured;
  const { path } = new ServerLog(paths.servers, name);
  const text = [`${path}.old`, path].map(textOf).join('');
  if (text === '') await requireServer(world, name, configured);
  world.stdout.write(neutralise(text));
  if (text === '' && !options.quiet) world.stderr.write(`There is no log of '${name}': '${path}'.\n`);
  return 0;
}

async function requireServer(world: World, name: string, configured: ConfiguredServers): Promise<void> {
  const { entries, waiting } = await usableServers(world, configured);
  const names = new Set([...Object.keys(configured.servers), ...[...entries, ...waiting].map((server) => server.name)]);
  if (!names.has(name)) throw unknownServer(name, configured, [...names]);
}

function textOf(path: string): string {
  try {
    return readRegularFile(path).toString();
  } catch {
    return '';
  }
}
