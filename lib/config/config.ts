import type { JsonObject } from '../chat/json.js';
import type { configKeys } from './keys.js';
import type { ModelSettings } from './model-settings.js';
import type { ServersFile } from './server-settings.js';
import type { DefaultsOf, FileOf } from './setting.js';

type ConfigKeys = ReturnType<typeof configKeys>;

/** The values of the keys that have a default. */
export type ConfigDefaults = DefaultsOf<ConfigKeys>;

/** The effective configuration, from all sources and the defaults. Plain data. */
export interface Config extends ModelSettings, ConfigDefaults {
  /** The fast model; null when the main model does its work. */
  readonly small_model: ModelSettings | null;
  /** Further options of the provider, under its own names. */
  readonly options: JsonObject;
  /** Sent with every request to the address of the main model. */
  readonly headers: Readonly<Record<string, string>>;
  /** The MCP servers, by name. */
  readonly mcpServers: ServersFile;
}

/** The contents of a `config.json`. Every key is optional. */
export type ConfigFile = FileOf<ConfigKeys>;
