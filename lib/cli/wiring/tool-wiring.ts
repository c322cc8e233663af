import { SERVER_TOOL_PREFIX, type ToolSpec } from '../../chat/request.js';
import type { Config } from '../../config/config.js';
import { foreignPlaces, ownPlaces } from '../../config/paths.js';
import { addRule } from '../../config/write.js';
import { HiError } from '../../errors.js';
import { projectFolder } from '../../mcp/base/server-entry.js';
import type { ServerResource, ToolServers } from '../../mcp/tool-servers.js';
import type { Finder } from '../../recall/recall.js';
import { recallForModel } from '../../recall/show/for-model.js';
import { pick } from '../../registry.js';
import type { SessionDeps } from '../../session/common/deps.js';
import type { OpenMemory, SlashCommand } from '../../slash/common/command.js';
import type { Memory, SearchableConversation, Tool, ToolContext, ToolRunner } from '../../tools/common/tool.js';
import { commandShell } from '../../tools/shell/run-shell.js';
import { DESCRIPTIONS_IN_SH, EFFECTS, SPECS } from '../../tools/tool-specs.js';
import { effectiveWindow } from '../../view/size.js';
import { connectionDeps, usableServers } from '../base/configured-servers.js';
import type { SessionOptions } from '../base/options.js';
import type { Settings } from '../base/settings.js';
import { newWarnings, SERVER_TOOLS } from '../base/warnings.js';
import type { World } from '../base/world.js';
import { attachResource, type PromptCommands, promptCommands } from '../input/from-servers.js';
import type { AttachedResource } from '../input/mentions.js';
import { type Connections, memoized } from './connections.js';
import { memoryForModel } from './open-memory.js';

/**
 * How much of the window the output of one call, and of all calls of one answer, may fill: output that the model has
 * not read cannot be compacted.
 */
const OUTPUT_SHARE = 0.2;
const ANSWER_SHARE = 0.4;

/** What the tools of a session use besides its settings. */
export interface ToolReach {
  readonly finder: () => Promise<Finder>;
  readonly memory: () => Promise<OpenMemory>;
  /** Whether what is said now is stored. */
  readonly isKept: () => boolean;
  /** The context window of the model that answers. It may become known after the start. */
  readonly window: () => number;
}

/** The state that the tools of a session share. */
export function toolContext(
  world: World,
  config: Config,
  settings: Settings,
  { finder, memory, isKept, window }: ToolReach,
): ToolContext {
  return {
    ...fixedContext(world, config, settings),
    get outputLimit() {
      return Math.min(config.tools.output_limit, outputRoom(config, OUTPUT_SHARE, window()));
    },
    conversation: conversationOf(finder, world),
    isKept,
    memory: memoryOf(memory, isKept),
  };
}

/** The number of characters that fit in this share of the window. */
function outputRoom(
  { max_input_tokens, compaction: { trigger_ratio } }: Config,
  share: number,
  context_window: number,
): number {
  return Math.floor(share * 4 * effectiveWindow({ context_window, max_input_tokens, trigger_ratio }));
}

/** What the tools of a session are made of. */
interface ToolParts {
  readonly world: World;
  readonly options: SessionOptions;
  readonly settings: Settings;
  readonly config: Config;
  readonly context: ToolContext;
  readonly connections: Connections;
  readonly window: () => number;
  readonly servers: ServerTools;
}

/** The tools that a session offers, and what runs them. */
export function sessionTools(parts: ToolParts): SessionDeps['tools'] {
  const { options, config, context, servers } = parts;
  const offered = offeredTools(config, options, context);
  return {
    maxRounds: config.tools.max_rounds,
    get specs() {
      return [...offered, ...servers.specs];
    },
    ...(options.tools === false && { others: offeredTools(config, {}, context) }),
    effects: EFFECTS,
    runner: memoized(() => toolRunner(offered, parts)),
  };
}

async function toolRunner(
  offered: readonly ToolSpec[],
  { world, options, settings: { paths }, config, context, connections, window, servers }: ToolParts,
): Promise<ToolRunner> {
  const { createToolRunner, tools } = await import('../../tools/index.js');
  const foreign = foreignPlaces(world, paths);
  return createToolRunner({
    tools: offered.map(({ name }) => pick(tools, name, 'tool')),
    findTool: (name) => servers.find(name),
    context,
    sharedLimit: () => outputRoom(config, ANSWER_SHARE, window()),
    permissions: config.tools.permissions,
    ruleSubjects: [...tools, SERVER_TOOLS],
    approve: options.ask?.approve ?? null,
    allowAll: options.yes ?? false,
    storeRule: (rule) => addRule(paths.configFile, rule),
    secrets: await connections.secrets(),
    // A skill is sent unasked, and a command when its name is typed: only the user writes one, wherever it is.
    ownPlaces: [...ownPlaces(paths), ...foreign],
    freeFolders: [paths.skills, ...foreign],
  });
}

/** The tools that the configuration and the command line enable. */
function offeredTools(config: Config, { tools: wanted }: SessionOptions, { shell }: ToolContext): readonly ToolSpec[] {
  if (wanted === false) return [];
  const specs = shell === 'sh' ? SPECS.map(inSh) : SPECS;
  if (wanted === undefined || wanted === true) return config.tools.enabled ? specs : [];
  return wanted
    .filter((name) => !name.startsWith(SERVER_TOOL_PREFIX))
    .map((name) => pick(specs, name, 'tool', 'usage'));
}

const inSh = (spec: ToolSpec): ToolSpec => ({
  ...spec,
  description: DESCRIPTIONS_IN_SH[spec.name] ?? spec.description,
});

function conversationOf(finder: () => Promise<Finder>, world: World): SearchableConversation {
  return {
    async search(search, signal) {
      return await recallForModel(await finder(), search, world.now(), world.home, signal);
    },
  };
}

/** The memory for the tools. Loaded when it is first used. */
function memoryOf(open: () => Promise<OpenMemory>, isKept: () => boolean): Memory {
  const forModel = async (): Promise<Memory> => {
    if (!isKept()) throw new HiError('usage', 'This part of the chat is not kept.');
    return memoryForModel(open);
  };
  return {
    preview: async (text, replaces) => await (await forModel()).preview(text, replaces),
    keep: async (text, replaces) => await (await forModel()).keep(text, replaces),
  };
}

/** The part of the context that does not change while the session runs. */
function fixedContext(world: World, config: Config, { paths }: Settings): Omit<ToolContext, 'outputLimit'> {
  return {
    cwd: { start: world.cwd, now: world.cwd },
    env: world.env,
    shell: commandShell(world.env),
    variables: config.tools.env,
    timeout: config.tools.timeout_ms,
    spillFolder: paths.outputs,
    sandbox:
      config.tools.sandbox === false
        ? null
        : { network: config.tools.sandbox === 'network', hidden: [paths.config, paths.data] },
  };
}

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
  /**
   * The resource named by a word after an `@`, given its possible readings; null if it does not start with a server.
   */
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
  { tools: wanted, ask, listens }: SessionOptions,
  { paths }: Settings,
  config: Config,
  room: () => number,
): Promise<ServerTools> {
  const isOff = wanted === false || (!Array.isArray(wanted) && !config.tools.enabled);
  const isConfigured = Object.keys(config.mcpServers).length > 0;
  if (isOff || (!isConfigured && projectFolder(world.cwd) === null)) return NONE;
  const { ToolServers } = await import('../../mcp/tool-servers.js');
  const configured = { paths, servers: config.mcpServers, timeout: config.tools.timeout_ms };
  const { entries, problems, waiting } = await usableServers(world, configured);
  const servers = new ToolServers({
    entries,
    cache: paths.servers,
    pins: paths.serverPins,
    connection: {
      ...connectionDeps(world, { paths, require_tls: config.require_tls, permissions: config.tools.permissions }),
      ...(ask?.elicit && { elicit: ask.elicit }),
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
