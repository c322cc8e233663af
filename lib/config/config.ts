import type { JsonObject } from '../chat/json.js';
import type { configKeys } from './keys.js';
import type { ModelSettings } from './model-settings.js';
import type { ServersFile } from './server-settings.js';
import type { DefaultsOf, FileOf } from './setting.js';

type ConfigKeys = ReturnType<typeof configKeys>;

/** The values of the keys that have a default. */
export type ConfigDefaults = DefaultsOf<ConfigKeys>;

/** The effective configuration: every default filled in, every source applied. Plain data. */
export interface Config extends ModelSettings, ConfigDefaults {
  /** The fast model; null when the main model serves. */
  readonly small_model: ModelSettings | null;
  /** What else the provider takes, by its own names. */
  readonly options: JsonObject;
  /** Go with every request to the address of the main model. */
  readonly headers: Readonly<Record<string, string>>;
  /** The MCP servers, by name. */
  readonly mcpServers: ServersFile;
}

/** A `config.json` as the schema allows it: everything optional. */
export type ConfigFile = FileOf<ConfigKeys>;
