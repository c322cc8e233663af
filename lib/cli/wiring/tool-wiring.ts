import { SERVER_TOOL_PREFIX, type ToolSpec } from '../../chat/request.js';
import type { Config } from '../../config/config.js';
import { ownPlaces } from '../../config/paths.js';
import { addRule } from '../../config/write.js';
import { HiError } from '../../errors.js';
import type { Recall } from '../../recall/recall.js';
import { recallForModel } from '../../recall/show/for-model.js';
import { pick } from '../../registry.js';
import type { OpenMemory } from '../../slash/common/command.js';
import type { Memory, SearchableConversation, ToolContext, ToolRunner } from '../../tools/common/tool.js';
import { commandShell } from '../../tools/shell/command-shell.js';
import { DESCRIPTIONS_IN_SH, SPECS } from '../../tools/tool-specs.js';
import { effectiveWindow } from '../../view/limit.js';
import { SERVER_TOOLS } from '../base/orphan-rules.js';
import type { Settings } from '../base/settings.js';
import type { World } from '../base/world.js';
import type { Connections } from './connections.js';
import { memoryForModel } from './open-memory.js';
import type { ServerTools } from './server-tools.js';
import type { SessionOptions } from './session-options.js';

/** How much of the window the output of one call, and of all calls of one answer, may fill: output that the model has not read cannot be compacted. */
const OUTPUT_SHARE = 0.2;
const ANSWER_SHARE = 0.4;

/** What the tools of a session use besides its settings. */
export interface ToolReach {
  readonly finder: () => Promise<Recall>;
  readonly memory: () => Promise<OpenMemory>;
  /** Whether the conversation is stored. */
  readonly keeps: () => boolean;
  /** The context window of the model that answers. It may become known after the start. */
  readonly window: () => number;
}

/** The state that the tools of a session share. */
export function toolContext(
  world: World,
  config: Config,
  settings: Settings,
  { finder, memory, keeps, window }: ToolReach,
): ToolContext {
  return {
    ...fixedContext(world, config, settings),
    get outputLimit() {
      return Math.min(config.tools.output_limit, outputRoom(config, OUTPUT_SHARE, window()));
    },
    conversation: conversationOf(finder, world),
    keepsOutput: keeps,
    memory: memoryOf(memory, keeps),
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

/** The runner of the offered tools. */
export async function toolRunner(
  offered: readonly ToolSpec[],
  {
    options,
    settings: { paths },
    config,
    context,
    connections,
    window,
    servers,
  }: {
    readonly options: SessionOptions;
    readonly settings: Settings;
    readonly config: Config;
    readonly context: ToolContext;
    readonly connections: Connections;
    readonly window: () => number;
    readonly servers: ServerTools;
  },
): Promise<ToolRunner> {
  const { createToolRunner, tools } = await import('../../tools/index.js');
  return createToolRunner({
    tools: offered.map(({ name }) => pick(tools, name, 'tool')),
    findTool: (name) => servers.find(name),
    context,
    sharedLimit: () => outputRoom(config, ANSWER_SHARE, window()),
    permissions: config.tools.permissions,
    ruleSubjects: [...tools, SERVER_TOOLS],
    approve: options.approve ?? null,
    allowAll: options.yes ?? false,
    storeRule: (rule) => addRule(paths.configFile, rule),
    secrets: await connections.secrets(),
    ownPlaces: ownPlaces(paths),
    freeFolders: [paths.skills],
  });
}

/** The tools that the configuration and the command line enable. */
export function offeredTools(
  config: Config,
  { tools: wanted }: SessionOptions,
  { shell }: ToolContext,
): readonly ToolSpec[] {
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

function conversationOf(finder: () => Promise<Recall>, world: World): SearchableConversation {
  return {
    async search(search, signal) {
      return await recallForModel(await finder(), search, world.now(), world.home, signal);
    },
  };
}

/** The memory for the tools. Loaded when it is first used. */
function memoryOf(open: () => Promise<OpenMemory>, keeps: () => boolean): Memory {
  const forModel = async (): Promise<Memory> => {
    if (!keeps()) throw new HiError('usage', 'This part of the chat is not kept.');
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
