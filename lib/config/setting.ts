import { isJsonObject, type JsonObject, type JsonValue, TEXT } from '../chat/json.js';

/**
 * One key of `config.json`. `Default` is undefined for a key whose value comes from elsewhere if the file does not set
 * it.
 */
interface Setting<Value, Default extends Value | undefined = Value> {
  /** The allowed values, as JSON Schema. */
  readonly range: JsonObject;
  readonly default: Default;
  /** A description for editors and the manual, in sentences. */
  readonly about: string;
  /** The default in words, for the manual. */
  readonly otherwise?: string;
  /** Never set. It only carries the type. */
  readonly value?: Value;
}

/** A group of keys: an object in `config.json`. */
interface Section<Keys> {
  readonly about: string;
  readonly keys: Keys;
  /** The page of the manual that explains it; absent if its keys are listed with the others. */
  readonly page?: string;
}

/** The contents of a file with these keys. Every key is optional. */
export type FileOf<Keys> = {
  readonly [Name in keyof Keys]?: Keys[Name] extends Section<infer Inner>
    ? FileOf<Inner>
    : Keys[Name] extends Setting<infer Value, infer _Default>
      ? Value
      : never;
};

/** The values of those keys that have a default. */
export type DefaultsOf<Keys> = {
  readonly [Name in keyof Keys as Keys[Name] extends { readonly default: undefined }
    ? never
    : Name]: Keys[Name] extends Section<infer Inner>
    ? DefaultsOf<Inner>
    : Keys[Name] extends Setting<infer Value>
      ? Value
      : never;
};

/** A setting with a default. */
export function setting<Value>(range: JsonObject, value: Value, about: string, otherwise?: string): Setting<Value> {
  return { range, default: value, about, ...(otherwise === undefined ? {} : { otherwise }) };
}

/** A setting with a fixed list of values. */
export function oneOf<const Value extends JsonValue>(
  values: readonly Value[],
  value: NoInfer<Value>,
  about: string,
  otherwise?: string,
): Setting<Value> {
  return setting<Value>({ enum: values }, value, about, otherwise);
}

/** A setting without a default of its own. */
export function found<Value>(range: JsonObject, about: string, otherwise: string): Setting<Value, undefined> {
  return { range, default: undefined, about, otherwise };
}

/** A group of settings. */
export function section<Keys extends object>(about: string, keys: Keys, page?: string): Section<Keys> {
  return { about, keys, ...(page === undefined ? {} : { page }) };
}

type Keys = Readonly<Record<string, unknown>>;

export function isSection(entry: unknown): entry is Section<Keys> {
  return typeof entry === 'object' && entry !== null && 'keys' in entry;
}

export function isSetting(entry: unknown): entry is Setting<JsonValue | undefined> {
  return typeof entry === 'object' && entry !== null && 'range' in entry;
}

/** The defaults of these keys, section by section. */
export function defaultsOf<Given extends object>(keys: Given): DefaultsOf<Given> {
  const defaults = Object.entries(keys).flatMap(([name, entry]): [string, unknown][] => {
    if (isSection(entry)) return [[name, defaultsOf(entry.keys)]];
    return isSetting(entry) && entry.default !== undefined ? [[name, entry.default]] : [];
  });
  // TypeScript loses the types in `Object.entries`. `DefaultsOf` and this function go through the same keys by the same
  // rule.
  return Object.fromEntries(defaults) as DefaultsOf<Given>;
}

/** The JSON Schema of an object with these keys, and no others. */
export function objectSchema(about: string, keys: object, required: readonly string[] = []): JsonObject {
  const properties = Object.fromEntries(Object.entries(keys).map(([name, entry]) => [name, schemaOf(entry)]));
  return { type: 'object', description: about, properties, required, additionalProperties: false };
}

function schemaOf(entry: unknown): JsonObject {
  if (isSection(entry)) return objectSchema(entry.about, entry.keys);
  if (!isSetting(entry)) throw new Error(`Neither a section nor a setting: ${JSON.stringify(entry)}`);
  const { range, about, default: value } = entry;
  return { ...range, description: about, ...(value === undefined ? {} : { default: value }) };
}

/** The values of the file, and the defaults for the rest, section by section. */
export function filledIn<Values extends object>(defaults: Values, file: object): Values {
  const given = new Map<string, unknown>(Object.entries(file));
  const values = Object.entries(defaults).map(([name, value]) => {
    const own = given.get(name);
    if (own === undefined) return [name, value];
    return [name, isJsonObject(value) && isJsonObject(own) ? filledIn(value, own) : own];
  });
  // As in `defaultsOf`. The file has passed the schema that is derived from the same keys.
  return Object.fromEntries(values) as Values;
}

// JSON Schemas that several keys share.

export const SHARE = { type: 'number', exclusiveMinimum: 0, maximum: 1 };

/** A list of rules. Each is a string, or an object with that string and further fields. */
export const rules = (more: JsonObject) => ({
  type: 'array',
  items: {
    type: ['string', 'object'],
    minLength: 1,
    properties: { rule: TEXT, folder: TEXT, ...more },
    required: ['rule'],
    additionalProperties: false,
  },
});

/** The further fields of a rule in `allow`. */
export const GRANTS = {
  write: { type: 'boolean' },
  network: { type: 'boolean' },
  read: { type: 'array', items: TEXT },
};

/** A rule as written in `config.json`. */
export type RuleSetting =
  | string
  | {
      readonly rule: string;
      readonly folder?: string;
      readonly write?: boolean;
      readonly network?: boolean;
      readonly read?: readonly string[];
    };

/** The context window, in tokens, of a model whose maker does not publish one. */
export const DEFAULT_WINDOW = 128_000;

/** How to reach one model. */
export interface ModelSettings {
  readonly provider: string;
  readonly model: string;
  readonly api_key: string | null;
  readonly api_base: string | null;
  /** The variable that holds the key, or `api_key` for the configuration; null if there is none. */
  readonly key_source?: string | null;
  /** In tokens. */
  readonly context_window: number;
  /** True when the user set the window. Then nothing that a server reports changes it. */
  readonly window_is_set: boolean;
  /** The name of the server in the configuration; absent for that of the flat form. */
  readonly server?: string;
}

/** A server in `servers` of a `config.json`: what the flat form has for one. */
export interface NamedServer {
  readonly provider?: string;
  readonly model?: string;
  readonly api_key?: string | null;
  readonly api_base?: string | null;
  readonly context_window?: number;
  readonly options?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly openai?: { readonly api?: 'auto' | 'responses' | 'chat' };
}

/** `small_model` in a `config.json`: the settings that differ from the main model's. */
export type SmallModelFile = Partial<Omit<ModelSettings, 'window_is_set' | 'key_source' | 'server'>> & {
  readonly model: string;
};
