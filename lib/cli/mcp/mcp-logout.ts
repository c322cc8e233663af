import { HiError } from '../../errors.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers } from '../base/configured-servers.js';
import type { World } from '../base/world.js';
import { endLogin } from './end-login.js';

/** Ends the login at a server. Resolves to the exit status. Throws a `HiError` where there is none. */
export async function mcpLogoutCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const { paths } = await configuredServers(world, options);
  if (!(await endLogin(world, paths, name))) throw new HiError('usage', `There is no login for a server '${name}'.`);
  if (!options.quiet) world.stderr.write(`Logged out of '${name}'.\n`);
  return 0;
}
