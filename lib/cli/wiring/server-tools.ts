import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolSpec } from '../../chat/request.js';
import type { Config } from '../../config/config.js';
import type { ToolServers } from '../../mcp/tool-servers.js';
import type { Tool } from '../../tools/common/tool.js';
import { newWarnings } from '../base/new-warnings.js';
import type { Settings } from '../base/settings.js';
import type { World } from '../base/world.js';
import type { SessionOptions } from './session-options.js';

/** The tools of servers in a session. */
export interface ServerTools {
  readonly specs: readonly ToolSpec[];
  /** What the servers want every request to say; null for nothing. */
  readonly instructions: string | null;
  find(name: string): Tool | undefined;
  /** Begins to ask those servers what they offer of which nothing is known. */
  begin(): void;
  /** Asks those servers what they offer of which nothing is known. Resolves with what the user should know. */
  settle(signal: AbortSignal): Promise<readonly string[]>;
  /** What there is, a line each. */
  lines(): readonly string[];
  close(): Promise<void>;
}

const NONE: ServerTools = {
  specs: [],
  instructions: null,
  find: () => undefined,
  begin: () => {},
  settle: async () => [],
  lines: () => [],
  close: async () => {},
};

/** The tools of the configured servers; where there are none, nothing of it is loaded. */
export async function serverTools(
  world: World,
  { tools: wanted }: SessionOptions,
  { paths }: Settings,
  config: Config,
  window: () => number,
): Promise<ServerTools> {
  const isOff = wanted === false || (!Array.isArray(wanted) && !config.tools.enabled);
  const isConfigured = Object.keys(config.mcpServers).length > 0;
  if (isOff || (!isConfigured && !existsSync(join(world.cwd, '.mcp.json')))) return NONE;
  const { connectionDeps, ToolServers, usableServers } = await import('./session-servers.js');
  const configured = { paths, servers: config.mcpServers, timeout: config.tools.timeout_ms };
  const { entries, problems, waiting } = await usableServers(world, configured);
  const servers = new ToolServers({
    entries,
    cache: paths.servers,
    pins: paths.serverPins,
    connection: connectionDeps(world, paths, config.require_tls),
    window,
  });
  const told = [...problems, ...(waiting.length > 0 ? [waitingText(waiting.map(({ name }) => name))] : [])];
  return new OfferedServers(servers, told, paths.warned, Array.isArray(wanted) ? wanted : null);
}

const waitingText = (names: readonly string[]): string =>
  `Not used: the servers of this project in '.mcp.json': ${names.join(', ')}. To look at them and agree, run: hi mcp approve`;

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

  get instructions(): string | null {
    return this.#servers.instructions;
  }

  find(name: string): Tool | undefined {
    return this.#wanted === null || this.#wanted.includes(name) ? this.#servers.find(name) : undefined;
  }

  begin(): void {
    this.#servers.begin();
  }

  async settle(signal: AbortSignal): Promise<readonly string[]> {
    const failures = await this.#servers.settle(signal);
    const problems = [...this.#problems, ...this.#servers.problems];
    return [...failures, ...(problems.length > 0 ? await newWarnings(problems, this.#warned) : [])];
  }

  lines(): readonly string[] {
    return [...this.#servers.lines, ...this.#problems];
  }

  async close(): Promise<void> {
    await this.#servers.close();
  }
}
