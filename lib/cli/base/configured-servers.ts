import { DEFAULTS } from '../../config/built.js';
import { findPaths, type Paths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { readKey } from '../../config/read-key.js';
import type { ServersFile } from '../../config/server-settings.js';
import { runExclusive } from '../../history/lock/exclusive.js';
import type { Exclusive } from '../../mcp/auth/login-file.js';
import { projectFolder, type ReadServers, readServers } from '../../mcp/base/server-entry.js';
import type { ConnectionDeps } from '../../mcp/connection/destination.js';
import { approvalsIn, asServersFile, type ProjectServer, readProjectServers } from '../../mcp/project-servers.js';
import type { Permissions } from '../../permission/rules/rules.js';
import { confineServer } from './confine-server.js';
import type { CommonOptions } from './options.js';
import { CONFIG_CHECK } from './settings.js';
import { VERSION } from './version.js';
import { requireTls, serverReach } from './warnings.js';
import type { World } from './world.js';

/** What the commands about servers begin with. */
export interface ConfiguredServers {
  readonly paths: Paths;
  readonly servers: ServersFile;
  /** The time limit of calls where a server has none, in milliseconds. */
  readonly timeout: number;
  readonly require_tls: boolean;
  readonly permissions: Partial<Permissions>;
}

/** Reads which servers are configured; no model needs to be. Throws a `HiError` of code `config`. */
export async function configuredServers(world: World, options: CommonOptions): Promise<ConfiguredServers> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { file } = await readConfig(paths.configFile, CONFIG_CHECK, options.config !== undefined);
  return {
    paths,
    servers: file?.mcpServers ?? {},
    timeout: file?.tools?.timeout_ms ?? DEFAULTS.tools.timeout_ms,
    require_tls: file?.require_tls ?? DEFAULTS.require_tls,
    permissions: file?.tools?.permissions ?? {},
  };
}

/** The servers that may be started, and those of the project that the user did not agree to. */
export interface UsableServers extends ReadServers {
  readonly waiting: readonly ProjectServer[];
}

/** The servers of the configuration and those of the project that the user agreed to; of one name the user's own. */
export async function usableServers(
  world: World,
  { paths, servers, timeout }: Pick<ConfiguredServers, 'paths' | 'servers' | 'timeout'>,
): Promise<UsableServers> {
  const own = readServers(servers, timeout);
  const folder = projectFolder(world.cwd);
  if (folder === null) return { ...own, waiting: [] };
  const found = readProjectServers(folder);
  const approvals = approvalsIn(paths.serverApprovals);
  const others = found.servers.filter(({ name, file }) => !Object.hasOwn(servers, name) && file.disabled !== true);
  const agreed = others.filter((server) => approvals.has(server));
  const project = readServers(asServersFile(agreed, folder), timeout, true);
  return {
    entries: [...own.entries, ...project.entries],
    problems: [...own.problems, ...found.problems, ...project.problems],
    waiting: others.filter((server) => !agreed.includes(server)),
  };
}

/** The lock of the logins, which is read only where one changes. */
export const exclusively: Exclusive = async (folder, name, work) => await runExclusive(folder, name, work);

/** What connections to servers are made with. */
export function connectionDeps(
  world: World,
  { paths, require_tls, permissions }: Pick<ConfiguredServers, 'paths' | 'require_tls' | 'permissions'>,
): ConnectionDeps {
  const run = async (command: string): Promise<string> => (await readKey(`!${command}`)) ?? '';
  return {
    values: { env: world.env, run },
    allow: (url, headers) => requireTls(serverReach(url, headers), { require_tls }),
    confine: (folder, read) =>
      confineServer({ paths, deny: permissions.deny ?? [], root: world.cwd, env: world.env }, folder, read),
    cwd: world.cwd,
    home: world.home,
    version: VERSION,
    logs: paths.servers,
    logins: paths.serverLogins,
    exclusively,
  };
}
