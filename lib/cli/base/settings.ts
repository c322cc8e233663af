import type { Config, ConfigFile } from '../../config/config.js';
import { findPaths, type Paths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { readKey } from '../../config/read-key.js';
import { notConfigured, resolveConfig } from '../../config/resolve.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { CONFIG_CHECK } from '../config-check/config-check.js';
import type { World } from './world.js';

/** What the configuration commands and every session start from. */
export interface Settings {
  readonly paths: Paths;
  /** The contents of the file, null when there is none. */
  readonly file: ConfigFile | null;
  /** The effective configuration, null when nothing says which provider to use. */
  readonly config: Config | null;
  readonly warnings: readonly string[];
}

/** The options of the command line that override the configuration. */
export interface SettingsOptions {
  readonly config?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly system?: string;
}

/** How long a server that needs no key may take to list its models. Milliseconds. */
const PROBE_TIMEOUT = 1500;

/** How long a server may send nothing before an answer is abandoned, unless HI_IDLE_TIMEOUT_MS is set. Milliseconds. */
const IDLE_TIMEOUT = 180_000;

/** Reads the configuration and applies the environment and the command line. Throws a `HiError` of code `config`. */
export async function readSettings(world: World, options: SettingsOptions): Promise<Settings> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { file, warnings } = await readConfig(paths.configFile, CONFIG_CHECK, options.config !== undefined);
  const { provider, model, system } = options;
  const config = await resolveConfig({
    file,
    env: world.env,
    vendors: providers,
    flags: {
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      ...(system === undefined ? {} : { preamble: system }),
    },
    models: (vendor, apiBase, apiKey) => probeModels(world, vendor.name, apiBase, apiKey),
  });
  return { paths, file, config, warnings };
}

/** The configuration. Throws a `HiError` that says how to create one. */
export function requireConfig({ config, paths }: Settings): Config {
  if (config === null) throw notConfigured(paths.configFile, providers);
  return config;
}

/** How long an adapter waits for the next bytes, in milliseconds. */
export function idleTimeout(world: World): number {
  const given = Number(world.env.HI_IDLE_TIMEOUT_MS);
  return given > 0 ? given : IDLE_TIMEOUT;
}

/** The names of a server's models, null when it does not answer in time. */
export async function probeModels(
  world: World,
  provider: string,
  apiBase: string | null,
  apiKey: string | null = null,
): Promise<readonly string[] | null> {
  const member = providers.find(({ name }: ProviderMember) => name === provider);
  if (member === undefined) return null;
  try {
    const settings = { apiKey: await readKey(apiKey), apiBase, idleTimeout: PROBE_TIMEOUT, env: world.env };
    const listed = await member.listModels(settings, AbortSignal.timeout(PROBE_TIMEOUT));
    return listed.map(({ name }) => name);
  } catch {
    return null;
  }
}
