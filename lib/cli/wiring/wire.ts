import { existsSync, statSync } from 'node:fs';
import { bookNames } from '../../books/book.js';
import { type Permit, permitBy } from '../../books/consent.js';
import { searchBooksToo } from '../../books/search-books.js';
import type { TextCache } from '../../chat/request.js';
import { fileCache } from '../../compaction/cache.js';
import type { Config } from '../../config/config.js';
import { type Paths, sharedSkills } from '../../config/paths.js';
import type { Keeping } from '../../history/log.js';
import { HistoryStore } from '../../history/store.js';
import { ProjectInstructions } from '../../memory/instructions.js';
import { type Standing, StandingMemory } from '../../memory/standing-memory.js';
import type { Finder } from '../../recall/recall.js';
import { ServerStates } from '../../servers/server-states.js';
import type { Fallback, SessionDeps, SessionSettings, Target } from '../../session/common/deps.js';
import type { OtherMachines } from '../../session/common/other-machines.js';
import { Session } from '../../session/session.js';
import { textModel } from '../../session/turn/text-model.js';
import { openSkills } from '../../skills/index.js';
import type { SkillLibrary } from '../../skills/skill.js';
import type { OpenMemory } from '../../slash/common/command.js';
import type { ToolContext } from '../../tools/common/tool.js';
import { imageSaver } from '../base/give-out.js';
import type { SessionOptions } from '../base/options.js';
import { isUnattended } from '../base/output.js';
import { nearLimits, readSettings, requireConfig, type Settings } from '../base/settings.js';
import type { World } from '../base/world.js';
import { Connections, memoized } from './connections.js';
import { openMemory } from './open-memory.js';
import { sharingOf } from './sharing.js';
import { type ServerTools, serverTools, sessionTools, toolContext } from './tool-wiring.js';

/** A session and its parts. */
export interface WiredSession {
  readonly session: Session;
  readonly settings: Settings;
  readonly config: Config;
  /** The folder, limits and environment of the session's tools. */
  readonly tools: ToolContext;
  readonly connections: Connections;
  /** Opens the memory. */
  readonly memory: () => Promise<OpenMemory>;
  /** The project's instructions, which are sent with every request. */
  readonly project: ProjectInstructions;
  readonly servers: ServerTools;
  /** Ends everything the session started, then the session. */
  close(): Promise<void>;
}

/** The share of the window that the definitions of the servers' tools may take. */
const TOOL_SHARE = 0.1;

/** How long a chat waits for a server that says when it answers again, in milliseconds. */
const CHAT_WAIT = 12 * 3_600_000;

/**
 * The composition root: reads the settings and creates a session. Throws `HiError`s of codes `config` and `history`.
 */
export async function openSession(world: World, options: SessionOptions): Promise<WiredSession> {
  const settings = await readSettings(world, options);
  return await wire(world, options, settings, requireConfig(settings));
}

/** Creates a session from settings that are already read. */
export async function wire(
  world: World,
  options: SessionOptions,
  settings: Settings,
  config: Config,
): Promise<WiredSession> {
  const { paths } = settings;
  const { ephemeral = false, fresh = false } = options;
  const opened = HistoryStore.open({ folder: paths.data, now: world.now, ephemeral, aside: fresh });
  let history: HistoryStore | null = null;
  const keeping = (): Keeping => history?.keeping ?? (ephemeral ? 'ephemeral' : 'kept');
  const isKept = (): boolean => keeping() === 'kept';
  const connections = new Connections(world, options, settings, config, keeping);
  const smallFor = smallModels(settings, config, connections);
  const server = (): string => session.target.server ?? session.target.provider;
  const search = sessionSearch(opened, options, settings, config, server);
  const memory = memoized(async () => openMemory(paths.memory, await opened, () => world.now()));
  const cache = keptWhile(isKept, fileCache(paths.compressions));
  const window = (): number => session.target.context_window;
  const context = toolContext(world, config, settings, { finder: search.sending, memory, isKept, window });
  const project = projectInstructions(world, options, settings, config);
  const servers = await serverTools(world, options, settings, config, () =>
    Math.min(TOOL_SHARE * window(), session.target.head_room ?? Number.POSITIVE_INFINITY),
  );
  history = await opened;
  const session = new Session({
    history,
    models: {
      target: connections.target(config),
      find: (name, signal) => connections.find(name, session.target, signal),
      fallback: fallbackOf(world, options, config, settings, connections),
      longestWait: options.longestWait ?? (options.idles ? CHAT_WAIT : 0),
      writers: (main) => {
        const small = smallFor(main);
        return (small === null ? [main] : [small, main]).map(textModel);
      },
    },
    settings: sessionSettings(world, options, settings, config, () => smallFor(session.target) ?? session.target),
    standing: standingTexts(new StandingMemory(paths.memory), project, servers, () => connections.beginTurn()),
    tools: sessionTools({ world, options, settings, config, context, connections, window, servers }),
    skills: {
      find: (main) => skillsFor(world, main, smallFor(main) ?? main, settings, config, cache, project.skills),
      approved: () => project.skills,
    },
    search,
    clock: config.clock ? world : null,
    ...(config.share.folder !== null && { machines: otherMachines(world, settings, config, history) }),
    cache,
    saveImage: saveImages(config, context, world),
    cwd: () => context.cwd.now,
  });
  const close = async (): Promise<void> => {
    session.restSummaries.stop();
    await servers.close();
    await session.history.close();
  };
  return { session, settings, config, tools: context, connections, memory, project, servers, close };
}

/** The small model beside the one that answers; null for none. */
function smallModels(
  { file }: Settings,
  { small_model }: Config,
  connections: Connections,
): (main: Target) => Target | null {
  const chosen = small_model === null ? null : connections.target(small_model);
  const isOpen = file?.small_model === undefined;
  return (main) => chosen ?? (isOpen ? (main.fast ?? null) : null);
}

/** What the user configured. `writer` is the model that writes summaries. */
function sessionSettings(
  world: World,
  options: SessionOptions,
  { file }: Settings,
  config: Config,
  writer: () => Target,
): SessionSettings {
  return {
    preamble: config.preamble,
    thinking: options.think ?? config.thinking,
    web: options.web === undefined ? config.web : options.web ? 'on' : 'off',
    compaction: { ...config.compaction, max_input_tokens: config.max_input_tokens, near: nearLimits(file) },
    view: config.view,
    get summarisesBeside() {
      return config.compaction.background && options.idles !== true && writer().isSingle !== true;
    },
    ...(isUnattended(world) && { via: 'script' }),
  };
}

/** The servers of `fallback`; null for none. */
function fallbackOf(
  world: World,
  options: SessionOptions,
  { fallback: names }: Config,
  { paths }: Settings,
  connections: Connections,
): Fallback | null {
  if (names.length === 0) return null;
  const changedAt = (): number => statSync(paths.configFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const states = new ServerStates(paths.serverStates, () => world.now().getTime(), changedAt);
  const isChosen = options.model !== undefined;
  return { isChosen, names, find: (name, signal) => connections.next(name, signal), states };
}

/** The other machines of the conversation. Nothing is read before the first exchange. */
function otherMachines(world: World, { paths }: Settings, config: Config, history: HistoryStore): OtherMachines {
  const open = memoized(async () => sharingOf(world, paths, config, history));
  const nothing = { arrivals: [], notices: [] };
  return {
    takeIn: async () => (await (await open())?.takeIn()) ?? nothing,
    giveOut: async () => (await (await open())?.giveOut()) ?? nothing,
    beforeReset: async () => (await (await open())?.beforeReset()) ?? nothing,
    resetEverywhere: async (purge) => (await (await open())?.resetEverywhere(purge)) ?? 0,
    afterUndo: async () => await (await open())?.afterUndo(),
  };
}

/** What is sent with every request: the memory, the project's instructions and those of servers. */
function standingTexts(
  memory: StandingMemory,
  project: ProjectInstructions,
  servers: Awaited<ReturnType<typeof serverTools>>,
  begin: () => void,
): SessionDeps['standing'] {
  return {
    read: async () => withMore(withMore(await memory.read(), project.text), servers.instructions),
    settle: async (signal) => {
      begin();
      const notice = await project.settle(signal);
      return [...(notice === null ? [] : [notice]), ...(await servers.settle(signal))];
    },
  };
}

/** Saves the pictures that a model draws. Its code is loaded with the first one. */
function saveImages({ images }: Config, context: ToolContext, { home, now }: World): SessionDeps['saveImage'] {
  return async (bytes, extension) => {
    return await imageSaver({ folder: images.folder, cwd: context.cwd.now, home, now })(bytes, extension);
  };
}

/** The same cache, except that new entries stay in this process's memory while nothing may be stored. */
function keptWhile(isKept: () => boolean, cache: TextCache): TextCache {
  const unkept = new Map<string, string>();
  return {
    get: async (key) => unkept.get(key) ?? (await cache.get(key)),
    put: async (key, text) => (isKept() ? await cache.put(key, text) : void unkept.set(key, text)),
  };
}

/** The skills for the model `main`. The model `writer` matches and shortens them. */
function skillsFor(
  world: World,
  main: Target,
  writer: Target,
  { paths }: Settings,
  { skills }: Config,
  cache: TextCache,
  project: ProjectInstructions['skills'],
): Promise<SkillLibrary> {
  return openSkills({
    folder: paths.skills,
    project,
    shared_folders: sharedSkills(world),
    known_file: paths.knownSkills,
    ...skills,
    // The window may become known after the start.
    get context_window() {
      return main.context_window;
    },
    ...(main.head_room !== undefined && { most_sent: main.head_room }),
    model: async () => textModel(writer),
    cache,
  });
}

/** The project's instructions; `-y` approves them. */
function projectInstructions(
  world: World,
  options: SessionOptions,
  { paths }: Settings,
  { project_instructions: mode }: Config,
): ProjectInstructions {
  return new ProjectInstructions({
    mode: options.yes && mode === 'ask' ? 'on' : mode,
    cwd: world.cwd,
    home: world.home,
    answers: paths.instructions,
    ask: options.ask?.aboutInstructions ?? null,
  });
}

/** The memory, followed by another text, of the project or the MCP servers. */
function withMore(memory: Standing, more: string | null): Standing {
  if (more === null) return memory;
  return { ...memory, text: memory.text === null ? more : `${memory.text}\n\n${more}` };
}

/** The searches of the session. `server` is that of the model in use. */
function sessionSearch(
  opened: Promise<HistoryStore>,
  { ephemeral = false, fresh = false, ask }: SessionOptions,
  { paths }: Settings,
  { recall }: Config,
  server: () => string,
): Required<SessionDeps['search']> {
  const permit = permitBy(paths.imports, server, ask?.aboutBook ?? null);
  const finder = (permitted: Permit | null) => async () => await openFinder(await opened, paths, !ephemeral, permitted);
  return {
    finder: memoized(finder(null)),
    // What the model is shown leaves this machine; what the user is shown does not.
    sending: memoized(finder(permit)),
    ...recall,
    auto: recall.auto && !fresh,
    hasBooks: () => existsSync(paths.imports) && bookNames(paths.imports).some((name) => !permit.isClosed(name)),
  };
}

/**
 * The search over the conversation, and over imported books where there are some. Their indexes are opened by the first
 * search.
 */
async function openFinder(
  history: HistoryStore,
  paths: Paths,
  writes: boolean,
  permit: Permit | null,
): Promise<Finder> {
  const { Recall } = await import('../../recall/recall.js');
  const own = new Recall({ folder: paths.index, history, writes });
  return existsSync(paths.imports) ? searchBooksToo(own, paths.imports, { writes }, permit) : own;
}
