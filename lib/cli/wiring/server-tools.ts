import type { ToolSpec } from '../../chat/request.js';
import type { Config } from '../../config/config.js';
import type { ToolServers } from '../../mcp/tool-servers.js';
import type { Tool } from '../../tools/common/tool.js';
import { connectionDeps } from '../base/configured-servers.js';
import { newWarnings } from '../base/new-warnings.js';
import type { Settings } from '../base/settings.js';
import type { World } from '../base/world.js';
import type { SessionOptions } from './session-options.js';

/** The tools of servers in a session. */
export interface ServerTools {
  readonly specs: readonly ToolSpec[];
  find(name: string): Tool | undefined;
  /** Asks those servers what they offer of which nothing is known. Resolves with what the user should know. */
  settle(signal: AbortSignal): Promise<readonly string[]>;
  close(): Promise<void>;
}

const NONE: ServerTools = { specs: [], find: () => undefined, settle: async () => [], close: async () => {} };

/** The tools of the configured servers; where there are none, nothing of it is loaded. */
export async function serverTools(
  world: World,
  { tools: wanted }: SessionOptions,
  { paths }: Settings,
  config: Config,
  window: () => number,
): Promise<ServerTools> {
  const isOff = wanted === false || (!Array.isArray(wanted) && !config.tools.enabled);
  if (isOff || Object.keys(config.mcpServers).length === 0) return NONE;
  const [{ readServers }, { ToolServers }] = await Promise.all([
    import('../../mcp/base/server-entry.js'),
    import('../../mcp/tool-servers.js'),
  ]);
  const { entries, problems } = readServers(config.mcpServers, config.tools.timeout_ms);
  const servers = new ToolServers({
    entries,
    cache: paths.servers,
    pins: paths.serverPins,
    connection: connectionDeps(world, paths),
    window,
  });
  return new OfferedServers(servers, problems, paths.warned, Array.isArray(wanted) ? wanted : null);
}

class OfferedServers implements ServerTools {
  readonly #servers: ToolServers;
  /** What is wrong with the configuration. */
  readonly #problems: readonly string[];
  /** The file of the warnings that were given. */
  readonly #warned: string;
  /** The names that `--tools` gives; null for all. */
  readonly #wanted: readonly string[] | null;

  constructor(servers: ToolServers, problems: readonly string[], warned: string, wanted: readonly string[] | null) {
    this.#servers = servers;
    this.#problems = problems;
    this.#warned = warned;
    this.#wanted = wanted;
  }

  get specs(): readonly ToolSpec[] {
    const wanted = this.#wanted;
    return wanted === null ? this.#servers.specs : this.#servers.specs.filter(({ name }) => wanted.includes(name));
  }

  find(name: string): Tool | undefined {
    return this.#wanted === null || this.#wanted.includes(name) ? this.#servers.find(name) : undefined;
  }

  async settle(signal: AbortSignal): Promise<readonly string[]> {
    const failures = await this.#servers.settle(signal);
    const problems = [...this.#problems, ...this.#servers.problems];
    return [...failures, ...(problems.length > 0 ? await newWarnings(problems, this.#warned) : [])];
  }

  async close(): Promise<void> {
    await this.#servers.close();
  }
}
