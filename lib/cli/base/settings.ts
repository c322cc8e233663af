import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config, ConfigFile } from '../../config/config.js';
import { findPaths, type Paths } from '../../config/paths.js';
import { type ConfigCheck, readConfig } from '../../config/read-config.js';
import { readKey } from '../../config/read-key.js';
import { NoModel, notConfigured, resolveConfig } from '../../config/resolve.js';
import { filledIn } from '../../config/setting.js';
import { HiError, systemCode } from '../../errors.js';
import type { ListedModel } from '../../providers/common/known-models.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { beginWait } from '../../waits.js';
import { acceptsConfig } from '../config-check/config-acceptor.js';
import type { World } from './world.js';

/** What the configuration commands and every session start from. */
export interface Settings {
  readonly paths: Paths;
  /** The contents of the file, null if there is none. */
  readonly file: ConfigFile | null;
  /** The effective configuration, null when nothing says which provider or model to use. */
  readonly config: Config | null;
  /** Why there is no configuration; null when there is one. */
  readonly problem: HiError | null;
  /** A server that has no model for a chat and can download one; null where there is a configuration. */
  readonly empty: EmptyServer | null;
  readonly warnings: readonly string[];
}

/** How a server is asked for its models. */
type Access = Pick<ProviderSettings, 'apiBase' | 'apiKey' | 'headers'>;

/** A server without a model. */
export interface EmptyServer {
  readonly member: ProviderMember;
  readonly access: Access;
}

/** The options of the command line that override the configuration. */
export interface SettingsOptions {
  readonly config?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly system?: string;
}

/** How long a server that needs no key may take to list its models: when probing for a provider, and when it was chosen. Milliseconds. */
const PROBE_TIMEOUT = 1500;
const LIST_TIMEOUT = 5000;

/** How long a server may send nothing before an answer is abandoned, unless HI_IDLE_TIMEOUT_MS is set. Milliseconds. */
const IDLE_TIMEOUT = 180_000;

/**
 * Reads the configuration and applies the environment and the command line. Throws a `HiError` of code `config`. With `signal` it waits until the signal aborts for a
 * server that is loading its model before it lists any.
 */
export async function readSettings(
  world: World,
  options: SettingsOptions,
  signal: AbortSignal | null = null,
): Promise<Settings> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { file, warnings } = await readConfig(paths.configFile, CONFIG_CHECK, options.config !== undefined);
  const { provider, model, system } = options;
  let empty: EmptyServer | null = null;
  const resolving = resolveConfig({
    file,
    env: world.env,
    vendors: providers,
    flags: {
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      ...(system === undefined ? {} : { preamble: system }),
    },
    models: async ({ name }, apiBase, apiKey) => {
      const member = pick<ProviderMember>(providers, name, 'provider');
      const access = { apiBase, apiKey, ...(file?.provider === name && file.headers && { headers: file.headers }) };
      const listed = await onceLoaded(() => listModels(world, member, access, signal), signal);
      if (member.pull !== undefined && !listed.some(({ chats }) => chats)) empty = { member, access };
      return listed;
    },
  });
  try {
    const { config, locals } = await resolving;
    const problem = config === null ? notConfigured(paths.configFile, providers, locals) : null;
    return { paths, file, config, problem, empty: config === null ? empty : null, warnings };
  } catch (thrown) {
    if (!(thrown instanceof NoModel)) throw thrown;
    return { paths, file, config: null, problem: thrown, empty, warnings };
  }
}

/** The configuration. Throws a `HiError` that says how to create one. */
export function requireConfig({ config, problem }: Settings): Config {
  if (config === null) throw problem;
  return config;
}

/** How long an adapter waits for the next bytes, in milliseconds. */
export function idleTimeout(world: World): number {
  const given = Number(world.env.HI_IDLE_TIMEOUT_MS);
  return given > 0 ? given : IDLE_TIMEOUT;
}

/** How long a nearby server may read a conversation before it begins its answer, in milliseconds; see `FetchSettings`. */
const NEARBY_TIMEOUT = 30 * 60_000;

/** The time limits of a conversation. What the user set holds for everything. */
export function timeLimits(world: World): { readonly idleTimeout: number; readonly nearbyTimeout?: number } {
  return {
    idleTimeout: idleTimeout(world),
    ...(world.env.HI_IDLE_TIMEOUT_MS ? {} : { nearbyTimeout: NEARBY_TIMEOUT }),
  };
}

/** Before the first data a summary may pause twice as long. */
const NEAR_LIMITS = { timeout_ms: 4 * 60 * 60_000, idle_timeout_ms: NEARBY_TIMEOUT / 2 };

/** The time limits of a summary by a nearby model: long, unless the user set them. */
export function nearLimits(file: ConfigFile | null): typeof NEAR_LIMITS {
  return filledIn(NEAR_LIMITS, file?.compaction ?? {});
}

/** The names of a server's models, null when it does not answer in time. */
export async function probeModels(
  world: World,
  provider: string,
  apiBase: string | null,
): Promise<readonly string[] | null> {
  try {
    const member = pick<ProviderMember>(providers, provider, 'provider');
    return (await listModels(world, member, { apiBase, apiKey: null })).map(({ name }) => name);
  } catch {
    return null;
  }
}

/** The models at an address. Throws a `HiError` if it sends no list in time. */
async function listModels(
  world: World,
  member: ProviderMember,
  access: Access,
  stop: AbortSignal | null = null,
): Promise<readonly ListedModel[]> {
  const timeout = Math.min(idleTimeout(world), member.keyVariables.length === 0 ? PROBE_TIMEOUT : LIST_TIMEOUT);
  const settings = {
    ...access,
    apiKey: await readKey(access.apiKey, stop ?? undefined),
    idleTimeout: timeout,
    env: world.env,
  };
  const signal = stop ?? new AbortController().signal;
  const endWait = beginWait('the list of models');
  try {
    return await withTimeout(timeout, signal, (expired) => member.listModels(settings, expired));
  } finally {
    endWait();
  }
}

/** How often a server that is loading its model is asked, in milliseconds. */
const BETWEEN_LOADING = 1000;

/** What `ask` resolves to, asked again for as long as the server says that it is loading its model; without a signal only once. */
async function onceLoaded<Value>(ask: () => Promise<Value>, signal: AbortSignal | null): Promise<Value> {
  let endWait: (() => void) | null = null;
  try {
    for (;;) {
      try {
        return await ask();
      } catch (thrown) {
        if (signal === null || !(thrown instanceof HiError) || !thrown.isLoading) throw thrown;
        endWait ??= beginWait('the server to load its model');
        await sleep(BETWEEN_LOADING, undefined, { signal });
      }
    }
  } finally {
    endWait?.();
  }
}

/** Throws a `HiError` of code `config` unless the folder can be written to, or created where it is missing. */
export async function requireWritable(folder: string): Promise<void> {
  try {
    if (!(await stat(folder)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT' && dirname(folder) !== folder) return await requireWritable(dirname(folder));
    const message =
      code === 'ENOTDIR' ? `'${folder}' is not a folder.` : `Cannot write to '${folder}' (${code ?? String(cause)}).`;
    throw new HiError('config', message, {
      hint: 'Change its permissions, or set HI_CONFIG_DIR, HI_DATA_DIR or HI_CACHE_DIR to another folder.',
      cause,
    });
  }
}

/** The check of `config.json`. The code that explains a mistake is loaded only for one. */
export const CONFIG_CHECK: ConfigCheck = {
  accepts: (value): value is ConfigFile => acceptsConfig(value),
  explaining: async () => (await import('../config-check/config-validator.js')).checkConfig,
};

/** How long a model may take to answer the question of a test, in milliseconds: a large one is loaded from the disk first. */
export const TEST_LIMIT = 5 * 60_000;

/** What a model that takes longer is told with. */
export const TEST_HINT = 'It may still be loading the model: try again. Or use a smaller model.';

/** Runs `ask` for at most so many milliseconds. Throws a `HiError` of code `network` after them. */
export async function withTimeout<Value>(
  timeout: number,
  signal: AbortSignal,
  ask: (combined: AbortSignal) => Promise<Value>,
  hint = 'Check the network connection and api_base.',
): Promise<Value> {
  const expired = AbortSignal.timeout(timeout);
  try {
    return await ask(AbortSignal.any([signal, expired]));
  } catch (thrown) {
    if (!expired.aborted || signal.aborted) throw thrown;
    throw new HiError('network', `The server did not answer within ${timeout / 1000} s.`, {
      hint,
      cause: thrown,
    });
  }
}
