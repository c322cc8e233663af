import type { Config, ConfigFile } from '../../config/config.js';
import { findPaths, type Paths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { notConfigured, resolveConfig } from '../../config/resolve.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { CONFIG_CHECK } from '../config-check/config-check.js';
import type { World } from './world.js';

/** What the configuration commands and every session begin with. */
export interface Settings {
  readonly paths: Paths;
  /** What is in the file, null when there is none. */
  readonly file: ConfigFile | null;
  /** The effective configuration, null when nothing tells which provider to use. */
  readonly config: Config | null;
  readonly warnings: readonly string[];
}

/** What the command line says of the configuration. */
export interface SettingsOptions {
  readonly config?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly system?: string;
}

/** How long a server that needs no key may take to tell its models. */
const PROBE_TIMEOUT = 1500;

/** How long nothing may arrive before an answer is given up; HI_IDLE_TIMEOUT_MS says otherwise. */
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
    models: (vendor, apiBase) => probeModels(world, vendor.name, apiBase),
  });
  return { paths, file, config, warnings };
}

/** The configuration, or the error that says how to get one. */
export function requireConfig({ config, paths }: Settings): Config {
  if (config === null) throw notConfigured(paths.configFile, providers);
  return config;
}

/** The limit on silence for adapters, in milliseconds. */
export function idleTimeout(world: World): number {
  const given = Number(world.env.HI_IDLE_TIMEOUT_MS);
  return given > 0 ? given : IDLE_TIMEOUT;
}

/** The models of a server that needs no key, null when none answers in time. */
export async function probeModels(
  world: World,
  name: string,
  apiBase: string | null,
): Promise<readonly string[] | null> {
  const member = providers.find((provider: ProviderMember) => provider.name === name);
  if (member === undefined) return null;
  const settings = { apiKey: null, apiBase, idleTimeout: PROBE_TIMEOUT, env: world.env };
  try {
    return await member.listModels(settings, AbortSignal.timeout(PROBE_TIMEOUT));
  } catch {
    return null;
  }
}
