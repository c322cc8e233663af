import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { HiError } from '../errors.js';

/** The folders and files of one user's `hi`, all absolute. */
export interface Paths {
  readonly config: string;
  readonly data: string;
  readonly cache: string;
  /** `config.json`, or the file that `--config` names. */
  readonly configFile: string;
  readonly skills: string;
  /** The user's notes that are sent with every request. */
  readonly memory: string;
  /** The key of the shared folder, unless a command prints it. */
  readonly shareKey: string;
  /** Which project instructions the user accepted or refused. */
  readonly instructions: string;
  /** The user's own commands. */
  readonly commands: string;
  readonly history: string;
  /** What was said to other programs, a file for each. */
  readonly imports: string;
  readonly inputHistory: string;
  /** The search index, derived from the history. */
  readonly index: string;
  /** The cache of summaries. */
  readonly compressions: string;
  /** V8's code cache. */
  readonly compiled: string;
  /** Command output that was too long for the model. */
  readonly outputs: string;
  /** The cache of the skills that the last start found. */
  readonly knownSkills: string;
  /** The cache of facts about models and their servers. */
  readonly knownModels: string;
  /** The questions that wait for a server. */
  readonly queue: string;
  /** What was spent, while there is a limit. */
  readonly ledger: string;
  /** Which servers of models failed lately. */
  readonly serverStates: string;
  /** The cached definitions of MCP servers, and their output. */
  readonly servers: string;
  /** The tool definitions that the user approved. */
  readonly serverPins: string;
  /** The project servers that the user approved. */
  readonly serverApprovals: string;
  /** The OAuth tokens for servers, readable by the user only. */
  readonly serverLogins: string;
  /** The warnings that were already shown. */
  readonly warned: string;
  readonly log: string;
}

/**
 * The paths below HI_CONFIG_DIR, HI_DATA_DIR and HI_CACHE_DIR, which default to what env-paths returns for "hi" (which
 * honours XDG_CONFIG_HOME, XDG_DATA_HOME and XDG_CACHE_HOME on Linux). Throws a `HiError` of code `config` if one is
 * not absolute.
 */
export async function findPaths(
  env: Readonly<Record<string, string | undefined>>,
  configFile: string | null,
): Promise<Paths> {
  const given = { config: env.HI_CONFIG_DIR, data: env.HI_DATA_DIR, cache: env.HI_CACHE_DIR };
  for (const name of ['HI_CONFIG_DIR', 'HI_DATA_DIR', 'HI_CACHE_DIR']) refuseRelative(name, env[name]);
  const usual =
    given.config && given.data && given.cache ? null : (await import('env-paths')).default('hi', { suffix: '' });
  if (usual) for (const folder of [usual.config, usual.data, usual.cache]) requireAbsolute(folder);
  const config = given.config || (usual?.config ?? '');
  const data = given.data || (usual?.data ?? '');
  const cache = given.cache || (usual?.cache ?? '');
  return {
    config,
    data,
    cache,
    configFile: configFile ?? join(config, 'config.json'),
    skills: join(config, 'skills'),
    memory: join(config, 'memory.md'),
    shareKey: join(config, 'share.key'),
    instructions: join(data, 'instructions.json'),
    commands: join(config, 'commands'),
    history: join(data, 'history.json.zst'),
    imports: join(data, 'imports'),
    inputHistory: join(data, 'input-history.jsonl'),
    index: join(data, 'recall'),
    compressions: join(cache, 'compressions'),
    compiled: join(cache, 'compiled'),
    outputs: join(cache, 'outputs'),
    knownSkills: join(cache, 'skills.json'),
    knownModels: join(cache, 'models.json'),
    queue: join(data, 'queue'),
    ledger: join(data, 'ledger'),
    serverStates: join(cache, 'servers.json'),
    servers: join(cache, 'mcp'),
    serverPins: join(data, 'mcp-pins.json'),
    serverApprovals: join(data, 'mcp-approvals.json'),
    serverLogins: join(data, 'mcp-logins'),
    warned: join(cache, 'warned.json'),
    log: join(cache, 'debug.log'),
  };
}

function refuseRelative(name: string, folder: string | undefined): void {
  if (!folder || isAbsolute(folder)) return;
  throw new HiError('config', `${name} is not an absolute path: '${folder}'.`, {
    hint: `A relative path would depend on the working folder. Set ${name} to an absolute path, or unset it.`,
  });
}

/** A path relative to the working folder would lead to another conversation in every folder. */
function requireAbsolute(folder: string): void {
  if (isAbsolute(folder)) return;
  throw new HiError(
    'config',
    `The folder '${folder}' is not an absolute path: HOME, or a variable such as XDG_DATA_HOME, is empty or relative.`,
    {
      hint: 'Set HOME, or HI_CONFIG_DIR, HI_DATA_DIR and HI_CACHE_DIR.',
    },
  );
}

/** What of the environment says where other programs keep their files. */
export type Surroundings = { readonly home: string; readonly env: Readonly<Record<string, string | undefined>> };

/** The folder of Claude Code, which `CLAUDE_CONFIG_DIR` may name. */
export const claudeFolder = ({ home, env }: Surroundings): string => env.CLAUDE_CONFIG_DIR || join(home, '.claude');

/** The folder of codex, which `CODEX_HOME` may name. */
export const codexFolder = ({ home, env }: Surroundings): string => env.CODEX_HOME || join(home, '.codex');

/** The folders of the user's skills that other programs read too, in order of preference. They may not exist. */
export const sharedSkills = (user: Surroundings): readonly string[] => [
  join(user.home, '.agents', 'skills'),
  join(claudeFolder(user), 'skills'),
];

/** Where the user's commands are. The folders may not exist. */
export interface CommandFolders {
  readonly own: string;
  /** Those of other programs. */
  readonly foreign: readonly string[];
}

export const commandFolders = (user: Surroundings, { commands }: Pick<Paths, 'commands'>): CommandFolders => ({
  own: commands,
  foreign: [join(claudeFolder(user), 'commands'), join(codexFolder(user), 'prompts')],
});

/** The files in which the user tells other programs what always holds. They may not exist. */
export const userInstructions = (user: Surroundings): readonly string[] => [
  join(claudeFolder(user), 'CLAUDE.md'),
  join(codexFolder(user), 'AGENTS.md'),
];

/**
 * What hi takes from the folders of other programs: skills and commands. The model may read it, and only the user
 * changes it.
 */
export const foreignPlaces = (user: Surroundings, paths: Pick<Paths, 'commands'>): readonly string[] => [
  ...sharedSkills(user),
  ...commandFolders(user, paths).foreign,
];

/** Whether the conversation is, or was, shared with other machines. */
export const wasShared = ({ data }: Pick<Paths, 'data'>): boolean => existsSync(join(data, 'share.machine'));

/** hi's own folders, and the files in them that may be links to other places. */
export const ownPlaces = (paths: Paths): readonly string[] => [
  ...[paths.config, paths.data, paths.cache],
  ...[paths.configFile, paths.memory, paths.history, paths.inputHistory, paths.serverLogins],
];
