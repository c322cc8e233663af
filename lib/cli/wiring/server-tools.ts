import type { ToolSpec } from '../../chat/request.js';
import type { Config } from '../../config/config.js';
import { projectFolder } from '../../mcp/base/server-entry.js';
import type { ServerResource, ToolServers } from '../../mcp/tool-servers.js';
import type { SlashCommand } from '../../slash/common/command.js';
import type { Tool } from '../../tools/common/tool.js';
import { newWarnings } from '../base/new-warnings.js';
import type { Settings } from '../base/settings.js';
import type { World } from '../base/world.js';
import { attachResource, type PromptCommands } from '../input/from-servers.js';
import type { AttachedResource } from '../input/mentions.js';
import type { SessionOptions } from './session-options.js';

/** What MCP servers contribute to a session. */
export interface ServerTools {
  /** Whether there is any server to ask. */
  readonly areThere: boolean;
  readonly specs: readonly ToolSpec[];
  /** The servers' instructions for every request; null for none. */
  readonly instructions: string | null;
  find(name: string): Tool | undefined;
  /** Starts asking the servers whose offer is unknown. */
  begin(): void;
  /** Asks the servers whose offer is unknown. Resolves to notices for the user. */
  settle(signal: AbortSignal): Promise<readonly string[]>;
  /** The servers, one line each. */
  lines(): readonly string[];
  /** Their prompts as slash commands, except those whose names are taken. */
  commands(taken: readonly SlashCommand[]): readonly SlashCommand[];
  /** What can follow an `@`, besides files. A template is cut off at its first placeholder. */
  mentionable(): readonly ServerResource[];
  /** The resource named by a word after an `@`, given its possible readings; null if it does not start with a server. */
  resource(words: readonly string[], signal: AbortSignal): Promise<AttachedResource> | null;
  close(): Promise<void>;
}

const NONE: ServerTools = {
  areThere: false,
  specs: [],
  instructions: null,
  find: () => undefined,
  begin: () => {},
  settle: async () => [],
  lines: () => [],
  commands: () => [],
  mentionable: () => [],
  resource: () => null,
  close: async () => {},
};

/** The tools of the configured servers. Loads nothing if there are no servers. */
export async function serverTools(
  world: World,
  { tools: wanted, elicit, listens }: SessionOptions,
  { paths }: Settings,
  config: Config,
  room: () => number,
): Promise<ServerTools> {
  const isOff = wanted === false || (!Array.isArray(wanted) && !config.tools.enabled);
  const isConfigured = Object.keys(config.mcpServers).length > 0;
  if (isOff || (!isConfigured && projectFolder(world.cwd) === null)) return NONE;
  const { connectionDeps, promptCommands, ToolServers, usableServers } = await import('./session-servers.js');
  const configured = { paths, servers: config.mcpServers, timeout: config.tools.timeout_ms };
  const { entries, problems, waiting } = await usableServers(world, configured);
  const servers = new ToolServers({
    entries,
    cache: paths.servers,
    pins: paths.serverPins,
    connection: {
      ...connectionDeps(world, { paths, require_tls: config.require_tls, permissions: config.tools.permissions }),
      ...(elicit && { elicit }),
      ...(listens && { listens }),
    },
    wanted: Array.isArray(wanted) ? wanted : null,
    room,
  });
  const faults = [...problems, ...(waiting.length > 0 ? [waitingText(waiting.map(({ name }) => name))] : [])];
  return new OfferedServers(servers, faults, promptCommands, paths.warned);
}

/** The number of resources to list. Tab completes all of them. */
const LISTED = 20;

const firstOf = (lines: readonly string[]): readonly string[] =>
  lines.length <= LISTED ? lines : [...lines.slice(0, LISTED), `  and ${lines.length - LISTED} more`];

const waitingText = (names: readonly string[]): string =>
  `Not used: the servers of this project in '.mcp.json': ${listOf(names)}. To review and approve them, run: hi mcp approve`;

class OfferedServers implements ServerTools {
  readonly areThere = true;
  readonly #servers: ToolServers;
  /** The faults in the configuration. */
  readonly #problems: readonly string[];
  readonly #promptCommands: PromptCommands;
  /** The file that records the warnings already shown. */
  readonly #warned: string;

  constructor(servers: ToolServers, problems: readonly string[], promptCommands: PromptCommands, warned: string) {
    this.#servers = servers;
    this.#problems = problems;
    this.#promptCommands = promptCommands;
    this.#warned = warned;
  }

  get specs(): readonly ToolSpec[] {
    return this.#servers.specs;
  }

  get instructions(): string | null {
    return this.#servers.instructions;
  }

  find(name: string): Tool | undefined {
    return this.#servers.find(name);
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
    const prompts = this.commands([]).map(({ usage, summary }) => `  ${usage}  ${summary}`);
    const resources = this.mentionable().map(({ typed, isTemplate }) => `  @${typed}${isTemplate ? '…' : ''}`);
    return [
      ...this.#servers.lines,
      ...(prompts.length > 0 ? ['Prompts:', ...prompts] : []),
      ...(resources.length > 0 ? ['Resources:', ...firstOf(resources)] : []),
      ...this.#problems,
    ];
  }

  commands(taken: readonly SlashCommand[]): readonly SlashCommand[] {
    return this.#promptCommands(this.#servers.byUser, taken);
  }

  mentionable(): readonly ServerResource[] {
    return this.#servers.byUser.resources;
  }

  resource(words: readonly string[], signal: AbortSignal): Promise<AttachedResource> | null {
    const { byUser } = this.#servers;
    const found = byUser.resourceIn(words);
    if (found === null) return null;
    return attachResource(byUser, found, signal);
  }

  async close(): Promise<void> {
    await this.#servers.close();
  }
}

/** How many names a notice has. */
const MOST_NAMES = 10;

function listOf(names: readonly string[]): string {
  const listed = names.slice(0, MOST_NAMES).join(', ');
  return names.length > MOST_NAMES ? `${listed} and ${names.length - MOST_NAMES} more` : listed;
}
