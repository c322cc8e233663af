import { DEFAULTS } from '../../config/built.js';
import { findPaths, ownPlaces, type Paths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { readKey } from '../../config/read-key.js';
import type { ServersFile } from '../../config/server-settings.js';
import { HiError } from '../../errors.js';
import { runExclusive } from '../../history/lock/exclusive.js';
import type { Exclusive } from '../../mcp/auth/login-file.js';
import { projectFolder, type ReadServers, readServers } from '../../mcp/base/server-entry.js';
import type { ConnectionDeps } from '../../mcp/connection/destination.js';
import { approvalsIn, asServersFile, type ProjectServer, readProjectServers } from '../../mcp/project-servers.js';
import { isPrivatePath } from '../../permission/paths/private-places.js';
import { realPath } from '../../permission/paths/resolve-path.js';
import { type Permissions, readRules } from '../../permission/rules/rules.js';
import { NotConfinable } from '../../permission/sandbox/confinement.js';
import { replacementFile } from '../../permission/sandbox/replacement-file.js';
import { type ConfinedRun, Sandbox } from '../../permission/sandbox/sandbox.js';
import { sandboxProblem } from '../../permission/sandbox/sandbox-kind.js';
import { tools } from '../../tools/index.js';
import type { CommonOptions } from './options.js';
import { CONFIG_CHECK } from './settings.js';
import { VERSION } from './version.js';
import { requireTls, SERVER_TOOLS, serverReach } from './warnings.js';
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
interface UsableServers extends ReadServers {
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

/**
 * A server runs for a long time, so its writes could not be told apart from the user's when setting aside files that
 * other programs would run. So it may write only temporary files.
 */
const GRANT = { write: false, network: true, files: [] };

/** The session that a server is started in. */
interface ServerSession {
  readonly paths: Paths;
  readonly deny: Permissions['deny'];
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const INSTEAD = `remove "sandbox" from the server's entry`;
const HINT =
  process.platform === 'linux'
    ? `Install bubblewrap (Debian: apt install bubblewrap), or ${INSTEAD}.`
    : `To start it without a sandbox, ${INSTEAD}.`;

/**
 * Sandboxes a server's program that runs in `folder`: it sees what commands in the working folder `root` see, its own
 * folder, and what its entry opens (`read`). Throws a `HiError` if that is impossible.
 */
async function confineServer(
  { paths, deny, root, env }: ServerSession,
  folder: string,
  read: readonly string[],
): Promise<ConfinedRun> {
  const problem = await sandboxProblem();
  if (problem !== null) throw new HiError('config', `Not started: ${problem}. ${HINT}`);
  const rules = readRules({ allow: [], ask: [], deny }, [...tools, SERVER_TOOLS], root);
  const sandbox = new Sandbox({
    root,
    ownPlaces: ownPlaces(paths),
    freeFolders: [],
    fileOf: (text) => replacementFile(paths.outputs, text),
    env,
    rules: () => rules,
  });
  try {
    // A private folder is opened by name only, not by starting in it: an entry of a project may say where, but not what
    // is read.
    const own = isPrivatePath(realPath(folder)) ? [] : [folder];
    return await sandbox.confine({ ...GRANT, read: [...own, ...read] }, folder);
  } catch (thrown) {
    if (!(thrown instanceof NotConfinable)) throw thrown;
    throw new HiError('config', `Not started: ${thrown.reason}.`, { cause: thrown });
  }
}
