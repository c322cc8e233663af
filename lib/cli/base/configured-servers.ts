import { DEFAULTS } from '../../config/defaults.js';
import { findPaths, type Paths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import type { ServersFile } from '../../config/server-settings.js';
import type { ConnectionDeps } from '../../mcp/connection/server-connection.js';
import { CONFIG_CHECK } from '../config-check/config-check.js';
import type { CommonOptions } from './command-options.js';
import { VERSION } from './version.js';
import type { World } from './world.js';

/** What the commands about servers begin with. */
export interface ConfiguredServers {
  readonly paths: Paths;
  readonly servers: ServersFile;
  /** The time limit of calls where a server has none, in milliseconds. */
  readonly timeout: number;
}

/** Reads which servers are configured; no model needs to be. Throws a `HiError` of code `config`. */
export async function configuredServers(world: World, options: CommonOptions): Promise<ConfiguredServers> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { file } = await readConfig(paths.configFile, CONFIG_CHECK, options.config !== undefined);
  return { paths, servers: file?.mcpServers ?? {}, timeout: file?.tools?.timeout_ms ?? DEFAULTS.tools.timeout_ms };
}

/** What connections to servers are made with. */
export function connectionDeps(world: World, paths: Paths): ConnectionDeps {
  const run = async (command: string): Promise<string> =>
    (await (await import('../../config/read-key.js')).readKey(`!${command}`)) ?? '';
  return {
    values: { env: world.env, run },
    cwd: world.cwd,
    home: world.home,
    version: VERSION,
    logs: paths.servers,
  };
}
