import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Vendor } from '../../chat/model.js';
import type { Config, ConfigFile } from '../../config/config.js';
import { findPaths, type Paths } from '../../config/paths.js';
import { type ConfigCheck, readConfig } from '../../config/read-config.js';
import { readKey } from '../../config/read-key.js';
import { NoModel, notConfigured, type Resolved, resolveConfig, type Sources } from '../../config/resolve.js';
import { filledIn } from '../../config/setting.js';
import { HiError, systemCode } from '../../errors.js';
import type { ListedModel } from '../../providers/common/known-models.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { chooseServer, type ServerChoice, sourcesOf } from '../../servers/named-server.js';
import { beginWait } from '../../waits.js';
import { acceptsConfig } from '../config-check/config-acceptor.js';
import type { World } from './world.js';

/** The settings that the configuration commands and every session start from. */
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

/** Address and credentials for listing the models of a server. */
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
  /** The server in use, for a model that is named without one. */
  readonly server?: string;
}

/**
 * How long a server that needs no key may take to list its models: when probing for a provider, and when it was chosen.
 * Milliseconds.
 */
const PROBE_TIMEOUT = 1500;
const LIST_TIMEOUT = 5000;

/** How long a server may send nothing before an answer is abandoned, unless HI_IDLE_TIMEOUT_MS is set. Milliseconds. */
const IDLE_TIMEOUT = 180_000;

/**
 * Reads the configuration and applies the environment and the command line. Throws a `HiError` of code `config`. With
 * `signal` it waits until the signal aborts for a server that is loading its model before it lists any.
 */
export async function readSettings(
  world: World,
  options: SettingsOptions,
  signal: AbortSignal | null = null,
): Promise<Settings> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { file, warnings } = await readConfig(paths.configFile, CONFIG_CHECK, options.config !== undefined);
  let empty: EmptyServer | null = null;
  const list = async ({ name }: Vendor, apiBase: string | null, apiKey: string | null, headers: Headers) => {
    const member = pick<ProviderMember>(providers, name, 'provider');
    const access = { apiBase, apiKey, ...(headers && { headers }) };
    const listed = await onceLoaded(() => listModels(world, member, access, signal), signal);
    if (member.pull !== undefined && !listed.some(({ chats }) => chats)) empty = { member, access };
    return listed;
  };
  try {
    const { config, locals } = await resolveNamed({ file, env: world.env, list }, options);
    const problem = config === null ? notConfigured(paths.configFile, providers, locals) : null;
    return { paths, file, config, problem, empty: config === null ? empty : null, warnings };
  } catch (thrown) {
    if (!(thrown instanceof NoModel)) throw thrown;
    return { paths, file, config: null, problem: thrown, empty, warnings };
  }
}

type Headers = ConfigFile['headers'];

/** Where settings come from, and how a server is asked for its models. */
interface SettingsSources extends Pick<Sources, 'file' | 'env'> {
  list(vendor: Vendor, apiBase: string | null, apiKey: string | null, headers: Headers): ReturnType<Sources['models']>;
}

/**
 * The settings of the server that the options or the configuration name, with those of the fast model, which may be at
 * another one.
 */
async function resolveNamed(sources: SettingsSources, options: SettingsOptions): Promise<Resolved> {
  const { file, env, list } = sources;
  const { provider, model, system, server = null } = options;
  const modelsOf =
    (own: ConfigFile | null): Sources['models'] =>
    (vendor, apiBase, apiKey) =>
      list(vendor, apiBase, apiKey, own?.provider === vendor.name ? own.headers : undefined);
  const preamble = system === undefined ? {} : { preamble: system };
  const flat: Sources = {
    ...{ file, env, vendors: providers, models: modelsOf(file) },
    flags: { ...(provider !== undefined && { provider }), ...(model !== undefined && { model }), ...preamble },
  };
  const typed = model ?? (env.HI_MODEL || null);
  const given = provider ?? ((model === undefined && env.HI_PROVIDER) || null);
  const choice = await chooseServer({ ...flat, typed, provider: given, inUse: server });
  if (choice === null) return await withSmallModel(await resolveConfig(flat), sources);
  const named = sourcesOf(flat, choice);
  const resolved = await resolveConfig({
    ...named,
    flags: { ...named.flags, ...preamble },
    models: modelsOf(named.file),
  });
  return await withSmallModel(labelled(resolved, choice), sources);
}

/** The settings with the name of the server, unless the model is another vendor's. */
function labelled({ config, locals }: Resolved, { name, server, keySource }: ServerChoice): Resolved {
  if (config === null || config.provider !== server.provider) return { config, locals };
  const key_source = config.key_source === 'api_key' ? keySource : (config.key_source ?? null);
  return { config: { ...config, server: name, key_source }, locals };
}

/** The settings with the fast model of another server, which is not asked for a list of its models. */
async function withSmallModel(resolved: Resolved, sources: SettingsSources): Promise<Resolved> {
  const { config, locals } = resolved;
  const name = sources.file?.small_model;
  if (config === null || typeof name !== 'string') return resolved;
  const list = async (): Promise<never> => {
    throw new HiError('config', `small_model does not name a model: '${name}'.`, {
      hint: 'Write "SERVER/MODEL", or set the model of that server.',
    });
  };
  const file = { ...sources.file, small_model: null };
  // The settings of the main model do not apply to another server.
  const env = { ...sources.env, HI_API_KEY: undefined, HI_API_BASE: undefined, HI_PROVIDER: undefined };
  const small = (await resolveNamed({ file, env, list }, { model: name })).config;
  return { config: { ...config, small_model: small }, locals };
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

/**
 * How long a nearby server may read a conversation before it begins its answer, in milliseconds; see `FetchSettings`.
 */
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
  patience = Number.POSITIVE_INFINITY,
): Promise<readonly string[] | null> {
  try {
    const member = pick<ProviderMember>(providers, provider, 'provider');
    return (await listModels(world, member, { apiBase, apiKey: null }, null, patience)).map(({ name }) => name);
  } catch {
    return null;
  }
}

/** The models at an address. Throws a `HiError` if it sends no list in time. */
export async function listModels(
  world: World,
  member: ProviderMember,
  access: Access,
  stop: AbortSignal | null = null,
  patience = Number.POSITIVE_INFINITY,
): Promise<readonly ListedModel[]> {
  const usual = member.keyVariables.length === 0 ? PROBE_TIMEOUT : LIST_TIMEOUT;
  const timeout = Math.min(idleTimeout(world), usual, patience);
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

/**
 * Calls `ask` again for as long as the server says that it is loading its model; without a signal, only once.
 */
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

/**
 * How long a model may take to answer the question of a test, in milliseconds: a large one is loaded from the disk
 * first.
 */
export const TEST_LIMIT = 5 * 60_000;

/** The hint when a model takes longer. */
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
