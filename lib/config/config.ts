import type { JsonObject } from '../chat/json.js';
import { configKeys, type MemberNames, optionsOfAny } from './keys.js';
import type { ServersFile } from './server-settings.js';
import { type DefaultsOf, type FileOf, type ModelSettings, type NamedServer, objectSchema } from './setting.js';

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
  /** The other servers of models, by name. */
  readonly servers: Readonly<Record<string, NamedServer>>;
}

/** The contents of a `config.json`. Every key is optional. */
export type ConfigFile = FileOf<ConfigKeys>;

/** The JSON Schema of `config.json`, descriptions and defaults included, for completion in editors. */
export function configSchema(names: MemberNames): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of hi',
    ...objectSchema('The settings of hi, a terminal chat.', configKeys(names)),
    allOf: optionRules(names),
  };
}

/** `options` may have the keys of the file's provider; if the file names none, those of any provider. */
function optionRules({ options }: MemberNames): readonly JsonObject[] {
  const named = { required: ['provider'] };
  const each = Object.entries(options).map(([provider, table]) =>
    rule({ ...named, properties: { provider: { const: provider } } }, table),
  );
  return [rule({ not: named }, optionsOfAny(options)), ...each];
}

function rule(condition: JsonObject, properties: JsonObject): JsonObject {
  const options = { type: 'object', properties, additionalProperties: false };
  return Object.fromEntries([
    ['if', condition],
    ['then', { properties: { options } }],
  ]);
}
