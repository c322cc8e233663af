import { isOwnAddress } from '../chat/own-address.js';
import type { Vendor } from '../chat/vendor.js';
import { HiError } from '../errors.js';
import { pick } from '../registry.js';
import type { Config, ConfigFile } from './config.js';
import { DEFAULTS } from './defaults.js';
import type { ModelSettings } from './model-settings.js';
import { contextWindow } from './models.js';
import { filledIn } from './setting.js';

/** The settings on the command line. */
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
  /** The models at that address, best first; null when nothing answers there. */
  models(vendor: Vendor, apiBase: string | null, apiKey: string | null): Promise<readonly string[] | null>;
}

/**
 * The effective configuration, each setting from the first source that has it: flag, environment, file, default.
 * The model, key and address of the file belong to the provider of the file: with another `--provider` they are not used.
 * Null when no source names a provider and none is found. Throws a `HiError` for an unknown provider.
 */
export async function resolveConfig(sources: Sources): Promise<Config | null> {
  const { file, env } = sources;
  const chosen = choose(sources);
  const vendor = chosen.provider === null ? await detect(sources) : pick(sources.vendors, chosen.provider, 'provider');
  if (vendor === null) return null;
  const own = file?.provider === undefined || file.provider === vendor.name ? file : null;
  const api_key = keyOf(vendor, own?.api_key, env);
  const api_base = addressOf(vendor, own?.api_base, env);
  const model = chosen.model ?? own?.model ?? (await defaultModel(sources, vendor, api_base, api_key));
  if (model.trim() === '') throw new HiError('usage', 'The model name is empty.', { hint: 'Give a name: -m NAME' });
  const given = chosen.model === null || chosen.model === own?.model ? own?.context_window : undefined;
  const main: ModelSettings = { provider: vendor.name, model, api_key, api_base, ...windowOf(vendor, model, given) };
  const settings = filledIn(DEFAULTS, file ?? {});
  const preamble = sources.flags.preamble ?? settings.preamble;
  const { options = {}, headers = {} } = own ?? {};
  return { ...main, ...settings, preamble, options, headers, small_model: await smallModel(sources, vendor, main) };
}

/** The window that the user gave, else what is assumed until the server tells. */
function windowOf(
  { mostAssumed = Number.POSITIVE_INFINITY }: Vendor,
  model: string,
  given: number | undefined,
): Pick<ModelSettings, 'context_window' | 'window_is_set'> {
  if (given !== undefined) return { context_window: given, window_is_set: true };
  return { context_window: Math.min(mostAssumed, contextWindow(model)), window_is_set: false };
}

interface Choice {
  readonly provider: string | null;
  readonly model: string | null;
}

function choose({ file, flags, env, vendors }: Sources): Choice {
  const typed = flags.model ?? (env.HI_MODEL || null);
  const given = flags.provider ?? ((flags.model === undefined && env.HI_PROVIDER) || null);
  if (given !== null) return { provider: given, model: withoutPrefix(typed, given) };
  const prefix = typed === null ? '' : typed.slice(0, Math.max(typed.indexOf('/'), 0));
  if (typed !== null && vendors.some((vendor) => vendor.name === prefix)) {
    return { provider: prefix, model: typed.slice(prefix.length + 1) };
  }
  return { provider: env.HI_PROVIDER || file?.provider || null, model: typed };
}

function withoutPrefix(model: string | null, provider: string): string | null {
  return model?.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;
}

/** The vendor whose key is in the environment, else the one whose address there names another server, else the first that answers without a key. */
async function detect(sources: Sources): Promise<Vendor | null> {
  const { vendors, env, file } = sources;
  const keyed = vendors.find((vendor) => vendor.keyVariables.some((name) => env[name]?.trim()));
  if (keyed) return keyed;
  const addressed = vendors.find(
    (vendor) => vendor.keyVariables.length > 0 && !isOwnAddress(vendor, baseOf(vendor, env)),
  );
  if (addressed) return addressed;
  for (const vendor of vendors.filter(({ keyVariables }) => keyVariables.length === 0)) {
    const models = await sources.models(vendor, file?.api_base ?? baseOf(vendor, env), null);
    if (models !== null && models.length > 0) return vendor;
  }
  return null;
}

/** HI_API_KEY is meant for hi alone and wins over the file; a vendor's variable serves every program and comes last. */
function keyOf(
  vendor: Vendor,
  fromFile: string | null | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const shared = vendor.keyVariables.map((name) => env[name]?.trim()).find((value) => value);
  return env.HI_API_KEY?.trim() || fromFile || shared || null;
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
  throw new HiError('config', `${name} is not a web address: '${address.replace(/\/\/[^@/]*@/, '//***@')}'.`, {
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

/** The vendor's usual model where the server is its own or lists it too, else the first that the server lists. */
async function defaultModel(
  sources: Sources,
  vendor: Vendor,
  apiBase: string | null,
  apiKey: string | null,
): Promise<string> {
  const { defaultModel: usual, keyVariables } = vendor;
  if (keyVariables.length > 0 && isOwnAddress(vendor, apiBase)) return usual;
  const models = (await sources.models(vendor, apiBase, apiKey)) ?? [];
  return (keyVariables.length > 0 && models.includes(usual) ? usual : models[0]) ?? usual;
}

async function smallModel(sources: Sources, vendor: Vendor, main: ModelSettings): Promise<ModelSettings | null> {
  const fromFile = sources.file?.small_model;
  if (fromFile === undefined) {
    // Another server may not have the vendor's fast model, so the main model is used there.
    if (vendor.fastModel === null || !isOwnAddress(vendor, main.api_base) || vendor.fastModel === main.model)
      return null;
    return { ...main, model: vendor.fastModel, ...windowOf(vendor, vendor.fastModel, undefined) };
  }
  if (fromFile === null) return null;
  const owner = fromFile.provider === undefined ? vendor : pick(sources.vendors, fromFile.provider, 'provider');
  const same = owner.name === vendor.name;
  return {
    provider: owner.name,
    model: fromFile.model,
    api_key: fromFile.api_key ?? (same ? main.api_key : keyOf(owner, null, { ...sources.env, HI_API_KEY: undefined })),
    api_base:
      same && !fromFile.api_base
        ? main.api_base
        : addressOf(owner, fromFile.api_base, { ...sources.env, HI_API_BASE: undefined }),
    ...windowOf(owner, fromFile.model, fromFile.context_window),
  };
}

/** The error when there is no provider to use, with the expected path and the two quickest fixes (SPEC §2). */
export function notConfigured(configFile: string, vendors: readonly Vendor[]): HiError {
  const variables = vendors.flatMap((vendor) => vendor.keyVariables.slice(0, 1));
  const local = vendors.filter(({ keyVariables }) => keyVariables.length === 0).map(({ title }) => title);
  return new HiError(
    'config',
    `hi is not configured: there is no '${configFile}', no API key in the environment, and ${local.join(' or ')} does not answer.`,
    {
      hint: `Run 'hi config init', or set one of ${variables.join(', ')}.`,
    },
  );
}
