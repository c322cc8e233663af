import { existsSync } from 'node:fs';
import type { ScreenSettings } from '../../chat/event.js';
import type { Config } from '../../config/config.js';
import { type CommandFolders, commandFolders } from '../../config/paths.js';
import { keepModel } from '../../config/write.js';
import { pathsThatBegin } from '../../repl/editing/completion.js';
import type { Repl } from '../../repl/repl.js';
import { QuestionQueue } from '../../servers/question-queue.js';
import type { Session } from '../../session/session.js';
import type {
  CommandQuestions,
  ModelChoices,
  OpenMemory,
  Prices,
  SlashCommand,
  SlashContext,
  UserFiles,
  WaitingQuestions,
} from '../../slash/common/command.js';
import { slashCommands } from '../../slash/index.js';
import type { ToolContext } from '../../tools/common/tool.js';
import { copyText, expandPath, writeFileAtomically } from '../base/give-out.js';
import type { World } from '../base/world.js';
import { orderOf, parseForgetWords } from '../forget/forgetting.js';
import { leftByReset, purgeCaches } from '../forget/places.js';
import { type OwnInputDeps, ownSlashCommands } from '../input/own-commands.js';
import { queuedLine, sendAll } from '../input/queued.js';
import {
  compactionCosts,
  costLine,
  fullSpendingText,
  isDear,
  questionCost,
  replyLine,
  spendingText,
} from '../wiring/price.js';
import { serverList } from '../wiring/server-list.js';
import { forgettingEverywhere } from '../wiring/sharing.js';
import type { WiredSession } from '../wiring/wire.js';

/** Gives slash commands access to the chat, the terminal and the disk. */
export async function slashContext(
  world: World,
  { session, tools, connections, settings, config, memory, project, servers }: WiredSession,
  repl: () => Repl,
  ask: CommandQuestions,
  screen: ScreenSettings,
): Promise<SlashContext> {
  const { paths } = settings;
  const own = { tools, secrets: () => connections.secrets(), resource: servers.resource.bind(servers) };
  const commands = [...slashCommands, ...(await ownCommands(commandFolders(world, paths), own))];
  return {
    session,
    get commands() {
      return [...commands, ...servers.commands(commands)];
    },
    screen,
    ask,
    models: {
      names: (signal) => connections.models(session.target, undefined, signal),
      serverNames: connections.serverNames,
      servers: async (signal) => await serverList(connections, session.target, world.now(), signal),
      keep: modelKeeper(session, config, paths.configFile),
    },
    prices: pricesOf(world, { session, connections, config }),
    files: filesOf(tools, world),
    desk: {
      edit: async (text) => {
        const edited = await repl().edit(text);
        return edited === text ? null : edited;
      },
      copy: (text) => copyText(text, world, world.stdout),
      forgetting: async (argument) => {
        const order = await orderOf(parseForgetWords(argument), session.history, world.now());
        return await forgettingEverywhere(world, order, session.history, paths);
      },
      purgeCaches: async () => purgeCaches(paths),
      leftByReset: () => leftByReset(paths),
      queue: waitingQuestions(new QuestionQueue(paths.queue), session),
    },
    memory: () => keptMemory(session, memory),
    instructions: () => project.used,
    servers: () => servers.lines(),
    now: () => world.now(),
  };
}

function pricesOf(
  world: World,
  { session, connections, config }: Pick<WiredSession, 'session' | 'connections' | 'config'>,
): Prices {
  return {
    spending: async () => spendingText(connections.used),
    total: async () => fullSpendingText(connections.used, session.history, config),
    question: async (tokens) => {
      const cost = questionCost(session.target, tokens, world.now());
      return { line: costLine(cost), isDear: isDear(cost, session.target) };
    },
    compactions: async (blocks) => {
      if (blocks.every(({ usage }) => usage === undefined)) return new Map();
      return compactionCosts(blocks, config);
    },
    reply: async (reply) => replyLine(reply, world.now()),
  };
}

const waitingQuestions = (queue: QuestionQueue, session: Session): WaitingQuestions => ({
  list: () => queue.list().map((one) => ({ id: one.id, line: queuedLine(one) })),
  remove: (id) => queue.remove(id),
  send: (signal) => sendAll(queue, session, signal),
});

/** Makes the model in use that of the next chats, unless it is that already or comes from another provider. */
function modelKeeper(session: Session, config: Config, configFile: string): ModelChoices['keep'] {
  let kept = config.model;
  return () => {
    const { provider, model, server } = session.target;
    if (provider !== config.provider || server !== config.server) return 'foreign';
    if (model === kept) return 'configured';
    return async () => {
      await keepModel(configFile, { provider, model, server });
      kept = model;
    };
  };
}

/** The memory, where anything is kept. */
async function keptMemory({ history }: Session, open: () => Promise<OpenMemory>): Promise<OpenMemory> {
  history.requireKept('hi remember TEXT');
  return await open();
}

function filesOf(tools: ToolContext, { home }: World): UserFiles {
  const pathOf = (path: string): string => expandPath(path, tools.cwd.now, home);
  return {
    paths: async (typed) => await typedPaths(typed, { cwd: tools.cwd, home }),
    exists: async (path) => existsSync(pathOf(path)),
    write: (path, chunks) => writeFileAtomically(pathOf(path), chunks),
  };
}

/** The paths that begin with what was typed, folders with a slash behind them. */
async function typedPaths(
  typed: string,
  place: { readonly cwd: { readonly now: string }; readonly home: string },
): Promise<string[]> {
  return (await pathsThatBegin(typed, place)).map(({ path, isFolder }) => (isFolder ? `${path}/` : path));
}

/** The user's own commands; without their folder nothing is loaded. */
async function ownCommands(folders: CommandFolders, deps: OwnInputDeps): Promise<readonly SlashCommand[]> {
  if (![folders.own, ...folders.foreign].some((folder) => existsSync(folder))) return [];
  return await ownSlashCommands(folders, slashCommands, deps);
}
