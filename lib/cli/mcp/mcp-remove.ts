import { rmSync } from 'node:fs';
import { changeServers } from '../../config/write.js';
import { ToolPins } from '../../mcp/calls/tool-pins.js';
import { ServerLog } from '../../mcp/connection/server-log.js';
import { OfferCache } from '../../mcp/definitions/offer-cache.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers } from '../base/configured-servers.js';
import type { World } from '../base/world.js';
import { endLogin } from './end-login.js';
import { unknownServer } from './find-server.js';

/** Removes a server from `config.json`, and everything that is known of it. Resolves to the exit status. Throws a `HiError` for an unknown name. */
export async function mcpRemoveCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const { paths, servers } = configured;
  if (!Object.hasOwn(servers, name)) throw unknownServer(name, configured);
  await changeServers(paths.configFile, ({ [name]: _, ...others }) => others);
  new OfferCache(paths.servers).remove(name);
  new ToolPins(paths.serverPins).remove(name);
  await endLogin(world, paths, name);
  const { path } = new ServerLog(paths.servers, name);
  for (const file of [path, `${path}.old`]) rmSync(file, { force: true });
  if (!options.quiet) world.stderr.write(`Removed '${name}' from '${paths.configFile}'.\n`);
  return 0;
}
