import type { ToolSpec } from '../../chat/request.js';
import type { TextCache } from '../../chat/text-model.js';
import type { ThinkingLevel } from '../../chat/thinking-level.js';
import { fileCache } from '../../compaction/cache.js';
import type { Config } from '../../config/config.js';
import { addRule } from '../../config/write.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { type AskAboutInstructions, ProjectInstructions } from '../../memory/project-instructions.js';
import { StandingMemory } from '../../memory/standing-memory.js';
import type { Standing } from '../../memory/standing-of.js';
import type { Recall } from '../../recall/recall.js';
import { pick } from '../../registry.js';
import type { Target } from '../../session/deps.js';
import { textModel } from '../../session/metered-model.js';
import { Session } from '../../session/session.js';
import { openSkills } from '../../skills/index.js';
import type { OpenMemory } from '../../slash/command.js';
import type { Approve, Conversation, Memory, ToolContext, ToolRunner } from '../../tools/tool.js';
import { EFFECTS, SPECS } from '../../tools/tool-specs.js';
import { effectiveWindow } from '../../view/limit.js';
import { readSettings, requireConfig, type Settings, type SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';
import { Connections, memoized } from './connections.js';

/** What a command asks of its session. */
export interface SessionOptions extends SettingsOptions {
  readonly tools?: boolean | readonly string[];
  readonly yes?: boolean;
  readonly ephemeral?: boolean;
  /** How hard the model should think, in place of the configuration. */
  readonly think?: ThinkingLevel;
  /** Whether the model may search the web, in place of the configuration. */
  readonly web?: boolean;
  readonly debug?: boolean;
  /** Asks the user before a tool runs; absent where that is impossible. */
  readonly approve?: Approve;
  /** Asks the user about the instructions of a project; absent where that is impossible. */
  readonly askAboutInstructions?: AskAboutInstructions;
}

/** A session, and what it was made from. */
export interface WiredSession {
  readonly session: Session;
  readonly settings: Settings;
  readonly config: Config;
  /** The folder, limits and environment of the session's tools. */
  readonly tools: ToolContext;
  readonly connections: Connections;
  /** What the user wants always kept in mind. */
  readonly memory: () => Promise<OpenMemory>;
}

/** The composition root: reads the settings and puts a session together. Throws `HiError`s of codes `config` and `history`. */
export async function openSession(world: World, options: SessionOptions): Promise<WiredSession> {
  const settings = await readSettings(world, options);
  return await wire(world, options, settings, requireConfig(settings));
}

/** Puts a session together from settings that were read already. */
export async function wire(
  world: World,
  options: SessionOptions,
  settings: Settings,
  config: Config,
): Promise<WiredSession> {
  const { paths } = settings;
  const opened = HistoryStore.open({ folder: paths.data, now: world.now, ephemeral: options.ephemeral ?? false });
  let history: HistoryStore | null = null;
  const connections = new Connections(world, options, settings, config, () => history?.isOffRecord !== true);
  const target = connections.target(config);
  const small = config.small_model === null ? null : connections.target(config.small_model);
  const cache = fileCache(paths.compressions);
  const kept: TextCache = {
    get: (key) => cache.get(key),
    put: async (key, text) => (history?.isEphemeral ? undefined : await cache.put(key, text)),
  };
  const finder = memoized(async () => await openFinder(await opened, paths.index, options.ephemeral !== true));
  const memory = memoized(async () =>
    (await import('./open-memory.js')).openMemory(paths.memory, await opened, () => world.now()),
  );
  const outputRoom = (share: number): number =>
    Math.floor(share * 4 * effectiveWindowOf(config, session.target.context_window));
  const context: ToolContext = {
    ...toolContext(world, config, settings),
    // The window may be learnt after the start.
    get outputLimit() {
      return Math.min(config.tools.output_limit, outputRoom(OUTPUT_SHARE));
    },
    conversation: conversationOf(finder, world),
    keepsOutput: () => history?.isEphemeral !== true,
    memory: memoryOf(memory, () => history?.isEphemeral !== true),
  };
  const standing = new StandingMemory(paths.memory);
  const project = new ProjectInstructions({
    mode: options.yes && config.project_instructions === 'ask' ? 'on' : config.project_instructions,
    cwd: world.cwd,
    answers: paths.instructions,
    ask: options.askAboutInstructions ?? null,
  });
  const offered = offeredTools(config, options);
  history = await opened;
  const session = new Session({
    history,
    target,
    find: (name, signal) => connections.find(name, signal),
    writers: (main: Target) => (small === null ? [main] : [small, main]).map(textModel),
    preamble: config.preamble,
    standing: async () => withProject(await standing.read(), project.text),
    settle: (signal) => project.settle(signal),
    thinking: options.think ?? config.thinking,
    web: options.web === undefined ? config.web : options.web ? 'on' : 'off',
    compaction: { ...config.compaction, max_input_tokens: config.max_input_tokens },
    maxRounds: config.tools.max_rounds,
    toolSpecs: offered,
    toolEffects: EFFECTS,
    tools: memoized(() =>
      toolRunner(offered, {
        options,
        settings,
        config,
        context,
        connections,
        sharedLimit: () => outputRoom(ANSWER_SHARE),
      }),
    ),
    skills: (main: Target) =>
      openSkills({
        folder: paths.skills,
        known_file: paths.knownSkills,
        ...config.skills,
        get context_window() {
          return main.context_window;
        },
        model: async () => textModel(small ?? main),
        cache,
      }),
    finder,
    recallsUnasked: config.recall.auto,
    clock: config.clock ? world : null,
    cache: kept,
    savePicture: async (bytes, extension) => {
      const { pictureSaver } = await import('./save-picture.js');
      const { home, now } = world;
      return await pictureSaver({ folder: config.images.folder, cwd: context.workingFolder, home, now })(
        bytes,
        extension,
      );
    },
    cwd: () => context.workingFolder,
  });
  return { session, settings, config, tools: context, connections, memory };
}

/** The memory, and after it what the project says. */
function withProject(memory: Standing, project: string | null): Standing {
  if (project === null) return memory;
  return { ...memory, text: memory.text === null ? project : `${memory.text}\n\n${project}` };
}

/** What runs the tools that are offered. */
async function toolRunner(
  offered: readonly ToolSpec[],
  {
    options,
    settings: { paths },
    config,
    context,
    connections,
    sharedLimit,
  }: {
    readonly options: SessionOptions;
    readonly settings: Settings;
    readonly config: Config;
    readonly context: ToolContext;
    readonly connections: Connections;
    readonly sharedLimit: () => number;
  },
): Promise<ToolRunner> {
  const { createToolRunner, tools } = await import('../../tools/index.js');
  return createToolRunner({
    tools: offered.map(({ name }) => pick(tools, name, 'tool')),
    context,
    sharedLimit,
    permissions: config.tools.permissions,
    ruleSubjects: tools,
    approve: options.approve ?? null,
    allowAll: options.yes ?? false,
    storeRule: (rule) => addRule(paths.configFile, rule),
    secrets: await connections.secrets(),
    ownPlaces: [paths.config, paths.configFile, paths.data, paths.cache],
    freeFolders: [paths.skills],
  });
}

function offeredTools(config: Config, { tools: wanted }: SessionOptions): readonly ToolSpec[] {
  if (wanted === false) return [];
  if (wanted === undefined || wanted === true) return config.tools.enabled ? SPECS : [];
  return wanted.map((name) => pick(SPECS, name, 'tool', 'usage'));
}

/** What finds in a conversation. Nothing of the index is opened before the first search. */
async function openFinder(history: HistoryStore, folder: string, writes: boolean): Promise<Recall> {
  const { Recall } = await import('../../recall/recall.js');
  return new Recall({ folder, open: () => history.reading(), writes });
}

function conversationOf(finder: () => Promise<Recall>, world: World): Conversation {
  return {
    async search(search, signal) {
      const { recallForModel } = await import('../../recall/show/for-model.js');
      return await recallForModel(await finder(), search, world.now(), world.home, signal);
    },
  };
}

/** The memory for the tools; nothing of it is loaded before it is used. */
function memoryOf(open: () => Promise<OpenMemory>, keeps: () => boolean): Memory {
  const forModel = async (): Promise<Memory> => {
    if (!keeps()) throw new HiError('usage', 'Nothing is kept of this part of the chat.');
    return (await import('./open-memory.js')).memoryForModel(open);
  };
  return {
    preview: async (text, replaces) => await (await forModel()).preview(text, replaces),
    keep: async (text, replaces) => await (await forModel()).keep(text, replaces),
  };
}

/** The shares of the window that the output of one call, and of all calls of one answer, may take: output that the model has not read cannot be compacted. */
const OUTPUT_SHARE = 0.2;
const ANSWER_SHARE = 0.4;

const effectiveWindowOf = (
  { max_input_tokens, compaction: { trigger_ratio } }: Config,
  context_window: number,
): number => effectiveWindow({ context_window, max_input_tokens, trigger_ratio });

function toolContext(world: World, config: Config, { paths }: Settings): Omit<ToolContext, 'outputLimit'> {
  return {
    workingFolder: world.cwd,
    root: world.cwd,
    env: world.env,
    variables: config.tools.env,
    timeout: config.tools.timeout_ms,
    spillFolder: paths.outputs,
    sandbox:
      config.tools.sandbox === false
        ? null
        : { network: config.tools.sandbox === 'network', hidden: [paths.config, paths.data] },
  };
}
