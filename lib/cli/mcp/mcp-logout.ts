import { HiError } from '../../errors.js';
import { LoginFile } from '../../mcp/auth/login-file.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers, exclusively } from '../base/configured-servers.js';
import type { World } from '../base/world.js';

/** Forgets the login at a server. Resolves to the exit status. Throws a `HiError` where there is none. */
export async function mcpLogoutCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const { paths } = await configuredServers(world, options);
  if (!new LoginFile(paths.serverLogins, name, exclusively).remove())
    throw new HiError('usage', `There is no login for a server '${name}'.`);
  if (!options.quiet) world.stderr.write(`Logged out of '${name}'.\n`);
  return 0;
}
