import type { MatchLogic } from '@pydantic/genai-prices';
import { isOwnAddress, type Vendor } from '../chat/model.js';
import { capitalised, firstCharacters, milliseconds } from '../chat/text.js';
import { HiError } from '../errors.js';
import { pick } from '../registry.js';
import { DEFAULTS, MODEL_TABLE } from './built.js';
import type { Config, ConfigFile } from './config.js';
import { DEFAULT_WINDOW, filledIn, type ModelSettings } from './setting.js';

/** The settings given on the command line. */
export interface Flags {
  readonly provider?: string;
  /** A model, or `provider/model`. */
  readonly model?: string;
  readonly preamble?: string;
}

export interface Sources {
  readonly file: ConfigFile | null;
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly vendors: readonly Vendor[];
  /** The models at that address, best first. Throws a `HiError` when it cannot get a list. */
  models(vendor: Vendor, apiBase: string | null, apiKey: string | null): Promise<readonly OfferedModel[]>;
}

/** The configuration that the sources give. */
export interface Resolved {
  /** Null when no source names a provider and none was detected. */
  readonly config: Config | null;
  /** The local servers that were asked because no source names a provider. */
  readonly locals: readonly LocalServer[];
}

/**
 * The effective configuration, each setting from the first source that has it: flag, environment, file, default.
 * The model, key and address in the file belong to the file's provider and are not used with another `--provider`.
 * Throws a `HiError` for an unknown provider, and a `NoModel` if no model is set and none can be chosen.
 */
export async function resolveConfig(sources: Sources): Promise<Resolved> {
  const { file, env } = sources;
  const chosen = await choose(sources);
  const locals: LocalServer[] = [];
  const vendor =
    chosen.provider === null ? await detect(sources, locals) : pick(sources.vendors, chosen.provider, 'provider');
  if (vendor === null) return { config: null, locals };
  const own = file?.provider === undefined || file.provider === vendor.name ? file : null;
  const api_base = addressOf(vendor, own?.api_base, env);
  const [key_source, api_key] = keyOf(vendor, own?.api_key, env, api_base);
  const model = chosen.model ?? own?.model ?? (await defaultModel(sources, vendor, api_base, api_key));
  if (model.trim() === '') throw new HiError('usage', 'The model name is empty.', { hint: 'Give a name: -m NAME' });
  const given = chosen.model === null || chosen.model === own?.model ? own?.context_window : undefined;
  const main: ModelSettings = {
    provider: vendor.name,
    model,
    api_key,
    key_source,
    api_base,
    ...windowOf(vendor, model, given),
  };
  const asked = filledIn(DEFAULTS, file ?? {});
  const settings = { ...asked, screen_reader: asked.screen_reader || asksForPlainLines(env) };
  const preamble = sources.flags.preamble ?? settings.preamble;
  const { options = {}, headers = {} } = own ?? {};
  const small_model = await smallModel(sources, vendor, main);
  const { mcpServers = {}, servers = {} } = file ?? {};
  return { config: { ...main, ...settings, preamble, options, headers, small_model, mcpServers, servers }, locals };
}

/** Whether the variable is set that asks programs to be readable for screen readers: nothing is redrawn then. */
export const asksForPlainLines = (env: Sources['env']): boolean => !/^(?:0|false)?$/i.test(env.ACCESSIBLE ?? '');

/** The window that the user set, else the one assumed until the server reports its own. */
function windowOf(
  { mostAssumed = Number.POSITIVE_INFINITY }: Vendor,
  model: string,
  given: number | undefined,
): Pick<ModelSettings, 'context_window' | 'window_is_set'> {
  if (given !== undefined) return { context_window: given, window_is_set: true };
  return { context_window: Math.min(mostAssumed, contextWindow(model)), window_is_set: false };
}

/** The window that shares are computed from: the user's, else the model's, at most 128,000 or `max_input_tokens`. */
export function baseWindow(
  { max_input_tokens }: Pick<Config, 'max_input_tokens'>,
  { window_is_set, context_window }: ModelSettings,
  real = context_window,
): number {
  return window_is_set ? context_window : Math.min(real, Math.max(DEFAULT_WINDOW, max_input_tokens ?? 0));
}

const HOUR = 60 * 60_000;

/** The pause before a rest, in milliseconds; null for never. A window that the user set is in view as a whole. */
export function restAfter({ view: { rest } }: Config, { window_is_set }: ModelSettings): number | null {
  if (rest === null) return window_is_set ? null : HOUR;
  return milliseconds(rest);
}

/** The field of the configuration that holds a key. */
const FROM_FILE = 'api_key';

interface Choice {
  readonly provider: string | null;
  readonly model: string | null;
}

async function choose(sources: Sources): Promise<Choice> {
  const { file, flags, env, vendors } = sources;
  const typed = flags.model ?? (env.HI_MODEL || null);
  const given = flags.provider ?? ((flags.model === undefined && env.HI_PROVIDER) || null);
  const usual = given ?? (env.HI_PROVIDER || file?.provider || null);
  const prefix = typed === null ? '' : typed.slice(0, Math.max(typed.indexOf('/'), 0));
  if (typed === null) return { provider: usual, model: typed };
  if (!vendors.some((vendor) => vendor.name === prefix)) {
    const maker = given === null ? makerElsewhere(vendors, usualServer(sources, usual), typed) : null;
    return { provider: maker ?? usual, model: typed };
  }
  if (await isListed(sources, usual, typed)) return { provider: usual, model: typed };
  if (given !== null) return { provider: given, model: withoutPrefix(typed, given) };
  return { provider: prefix, model: typed.slice(prefix.length + 1) };
}

/** A server: a vendor's own when the address is null. */
interface Server {
  readonly provider: string | null;
  readonly api_base: string | null;
}

function usualServer({ vendors, file, env }: Sources, usual: string | null): Server {
  const vendor = vendors.find(({ name }) => name === usual);
  if (vendor === undefined) return { provider: null, api_base: null };
  const own = file?.provider === undefined || file.provider === vendor.name ? file : null;
  return { provider: vendor.name, api_base: addressOf(vendor, own?.api_base, env) };
}

/**
 * The vendor whose models alone have such names, if it is not the one in use; null for any other name. Gateways and
 * servers of users' own have models by any name.
 */
export function makerElsewhere(
  vendors: readonly Vendor[],
  { provider, api_base }: Server,
  model: string,
): string | null {
  const used = vendors.find(({ name }) => name === provider);
  if (used !== undefined && (used.keyVariables.length === 0 || !isOwnAddress(used, api_base))) return null;
  const maker = vendors.find(({ ownNames }) => ownNames?.test(model));
  return maker === undefined || maker.name === provider ? null : maker.name;
}

/** Whether the server in use is a gateway whose models have such names, like OpenRouter's `anthropic/claude-…`. */
export async function isListed(sources: Sources, usual: string | null, typed: string): Promise<boolean> {
  const { file, env, vendors, models } = sources;
  const vendor = vendors.find(({ name }) => name === usual);
  if (vendor === undefined) return false;
  const own = file?.provider === undefined || file.provider === vendor.name ? file : null;
  const { api_base: address } = usualServer(sources, usual);
  if (isOwnAddress(vendor, address)) return false;
  const listed = await models(vendor, address, keyOf(vendor, own?.api_key, env, address)[1]).catch(() => []);
  return listed.some(({ name }) => name === typed);
}

function withoutPrefix(model: string | null, provider: string): string | null {
  return model?.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;
}

/** The vendor that the environment names, else the first that answers without a key. */
async function detect(sources: Sources, locals: LocalServer[]): Promise<Vendor | null> {
  const { vendors, env, file } = sources;
  const named = vendorIn(env, vendors);
  if (named) return named;
  for (const vendor of vendors.filter(({ keyVariables }) => keyVariables.length === 0)) {
    const address = file?.api_base ?? baseOf(vendor, env);
    const models = await sources.models(vendor, address, null).catch(() => null);
    if (models !== null && models.length > 0) return vendor;
    locals.push({ vendor, address, answers: models !== null });
  }
  return null;
}

/** The first vendor with a key in the environment, else with an address of another server there. */
export function vendorIn(env: Sources['env'], vendors: readonly Vendor[]): Vendor | undefined {
  const keyed = vendors.find((vendor) => vendor.keyVariables.some((name) => env[name]?.trim()));
  return (
    keyed ?? vendors.find((vendor) => vendor.keyVariables.length > 0 && !isOwnAddress(vendor, baseOf(vendor, env)))
  );
}

/**
 * The key and its source: HI_API_KEY, the file, a vendor's variable, which is for every program. A blank one is none.
 */
function keyOf(
  vendor: Vendor,
  fromFile: string | null | undefined,
  env: Readonly<Record<string, string | undefined>>,
  address: string | null,
): readonly [source: string | null, key: string | null] {
  const { hosted } = vendor;
  const isHosted = hosted !== undefined && address !== null && isOwnAddress({ ownHosts: hosted.hosts }, address);
  const variables = isHosted ? [hosted.keyVariable] : vendor.keyVariables;
  const sources: readonly (readonly [string, string | null | undefined])[] = [
    ['HI_API_KEY', env.HI_API_KEY],
    [FROM_FILE, fromFile],
    ...variables.map((name) => [name, env[name]] as const),
  ];
  const [source, key] = sources.find(([, value]) => value?.trim()) ?? [];
  return source === undefined || !key ? [null, null] : [source, key.trim()];
}

/** The configured address, null for the vendor's own. Throws a `HiError` for one that is not a web address. */
function addressOf(
  vendor: Vendor,
  fromFile: string | null | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const sources: readonly (readonly [string, string | null | undefined])[] = [
    ['HI_API_BASE', env.HI_API_BASE],
    ['api_base', fromFile],
    [vendor.baseVariable, baseOf(vendor, env)],
  ];
  const [name, address] = sources.find(([, value]) => value) ?? [];
  if (!name || !address) return null;
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return address;
  throw new HiError('config', `${name} is not a web address: '${withMaskedLogIn(address)}'.`, {
    hint: 'Set it to an address such as http://localhost:8000/v1.',
  });
}

/** The address in the vendor's own variable, null when there is none. */
export function baseOf(vendor: Vendor, env: Readonly<Record<string, string | undefined>>): string | null {
  const value = env[vendor.baseVariable];
  if (!value) return null;
  if (/^https?:\/\//.test(value)) return value;
  const host = value.startsWith(':') ? `127.0.0.1${value}` : value;
  return vendor.port === undefined || /:\d+(\/|$)/.test(host) ? `http://${host}` : `http://${host}:${vendor.port}`;
}

/** The vendor's default model if the server is the vendor's or lists it, else the first chat model that it lists. */
async function defaultModel(
  { models }: Sources,
  vendor: Vendor,
  apiBase: string | null,
  apiKey: string | null,
): Promise<string> {
  const { defaultModel: usual, keyVariables, elsewhere } = vendor;
  const isKeyed = keyVariables.length > 0;
  if (isKeyed && isOwnAddress(vendor, apiBase)) return usual;
  try {
    const listed = await models(vendor, apiBase, apiKey);
    if (isKeyed && listed.some(({ name }) => name === usual)) return usual;
    const found = listed.find(({ chats }) => chats);
    if (found !== undefined) return found.name;
    throw noneListed(vendor, apiBase, listed);
  } catch (thrown) {
    if (thrown instanceof NoModel || !(thrown instanceof HiError)) throw thrown;
    // A request will report what is wrong with the server. One that offers one maker's models may have no list of them.
    if (!isKeyed || (elsewhere === undefined && thrown.code !== 'key' && thrown.code !== 'network')) return usual;
    throw notListed(vendor, apiBase, thrown);
  }
}

async function smallModel(sources: Sources, vendor: Vendor, main: ModelSettings): Promise<ModelSettings | null> {
  const fromFile = sources.file?.small_model;
  if (fromFile === undefined) {
    // Another server may not have the vendor's fast model, so it uses the main model.
    if (vendor.fastModel === null || !isOwnAddress(vendor, main.api_base) || vendor.fastModel === main.model)
      return null;
    return { ...main, model: vendor.fastModel, ...windowOf(vendor, vendor.fastModel, undefined) };
  }
  // That of another server is resolved as one.
  if (fromFile === null || typeof fromFile === 'string') return null;
  const owner = fromFile.provider === undefined ? vendor : pick(sources.vendors, fromFile.provider, 'provider');
  const same = owner.name === vendor.name;
  const api_base =
    same && !fromFile.api_base
      ? main.api_base
      : addressOf(owner, fromFile.api_base, { ...sources.env, HI_API_BASE: undefined });
  const [key_source, api_key] = fromFile.api_key?.trim()
    ? [`small_model.${FROM_FILE}`, fromFile.api_key.trim()]
    : same
      ? [main.key_source, main.api_key]
      : keyOf(owner, null, { ...sources.env, HI_API_KEY: undefined }, api_base);
  return {
    provider: owner.name,
    model: fromFile.model,
    api_key,
    ...(key_source !== undefined && { key_source }),
    api_base,
    ...windowOf(owner, fromFile.model, fromFile.context_window),
  };
}

/** A model that a server lists. */
export interface OfferedModel {
  readonly name: string;
  /** False for a model with another purpose, such as embeddings. */
  readonly chats: boolean;
}

/** No model is set, and none could be chosen. */
export class NoModel extends HiError {}

const NAME_ONE = 'Choose one with -m NAME, HI_MODEL, or `model` in config.json.';

/** The error for a server that lists no chat model. */
export function noneListed(vendor: Vendor, address: string | null, listed: readonly OfferedModel[]): NoModel {
  const where = placeOf(vendor, address);
  if (listed.length === 0) {
    const hint = vendor.hints?.firstModel ?? 'Load one there first.';
    return new NoModel('model', capitalised(`${where} has no model.`), { hint });
  }
  const names = firstCharacters(listed.map(({ name }) => name).join(', '), 200);
  return new NoModel('model', `No model is set, and ${where} lists no chat model: ${names}.`, { hint: NAME_ONE });
}

/**
 * The error for a server that lists no models. If it rejects the key or cannot be reached, naming one does not help.
 */
export function notListed(vendor: Vendor, address: string | null, { code, message, hint }: HiError): NoModel {
  if (code === 'key' || code === 'network') return new NoModel(code, message, hint === null ? {} : { hint });
  const text = `No model is set, and ${placeOf(vendor, address)} does not list any: ${message}`;
  return new NoModel(code, text, { hint: hint === null ? NAME_ONE : `${NAME_ONE} ${hint}` });
}

const placeOf = ({ title, keyVariables }: Vendor, address: string | null): string => {
  if (address === null) return title;
  const shown = `'${withMaskedLogIn(address)}'`;
  return keyVariables.length === 0 ? `${title} at ${shown}` : `the server at ${shown}`;
};

/** The address without its user name and password. */
export const withMaskedLogIn = (address: string): string => address.replace(/\/\/[^@/]*@/, '//***@');

/** The result of asking a local server, which needs no key, for its models. */
export interface LocalServer {
  readonly vendor: Vendor;
  readonly address: string | null;
  /** True if it answers but has no model. */
  readonly answers: boolean;
}

/** Nothing says which provider to use. */
export class NotConfigured extends HiError {}

/** The error for a missing configuration. It names the expected file and the quickest fixes. */
export function notConfigured(
  configFile: string,
  vendors: readonly Vendor[],
  locals: readonly LocalServer[],
): NotConfigured {
  const variables = vendors.flatMap((vendor) => vendor.keyVariables.slice(0, 1));
  const found = locals.map(({ vendor, address, answers }) =>
    answers ? `${placeOf(vendor, address)} has no model` : `${placeOf(vendor, address)} does not answer`,
  );
  const fixes = locals.flatMap(({ vendor: { title, hints, baseVariable }, address, answers }) => {
    if (answers) return hints?.firstModel === undefined ? [] : [`For ${title}: ${uncapitalised(hints.firstModel)}`];
    return address === null ? [] : [`Or start ${title} there, or correct ${baseVariable}.`];
  });
  return new NotConfigured(
    'config',
    `hi is not configured: there is no '${configFile}', no API key in the environment, and ${found.join(' and ')}.`,
    { hint: [`Run 'hi config init', or set one of ${variables.join(', ')}.`, ...fixes].join(' ') },
  );
}

const uncapitalised = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** The context window of a model in tokens, from its name only; `DEFAULT_WINDOW` if its maker does not publish one. */
export function contextWindow(model: string): number {
  return publishedWindow(model) ?? DEFAULT_WINDOW;
}

/**
 * The context window that a model's maker publishes, null when none does. A maker's prefix as gateways write it
 * (`anthropic/claude-…`) is not part of the name.
 */
export function publishedWindow(model: string): number | null {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return MODEL_TABLE.find(({ match }) => matches(match, name))?.window ?? null;
}

function matches(logic: MatchLogic, name: string): boolean {
  if ('equals' in logic) return name === logic.equals;
  if ('starts_with' in logic) return name.startsWith(logic.starts_with);
  if ('ends_with' in logic) return name.endsWith(logic.ends_with);
  if ('contains' in logic) return name.includes(logic.contains);
  if ('regex' in logic) return new RegExp(logic.regex).test(name);
  if ('or' in logic) return logic.or.some((one) => matches(one, name));
  return logic.and.every((one) => matches(one, name));
}
