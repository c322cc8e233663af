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
  /** The models of a vendor that needs no key, best first; null when nothing answers at that address. */
  models(vendor: Vendor, apiBase: string | null): Promise<readonly string[] | null>;
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
  const model = chosen.model ?? own?.model ?? (await defaultModel(sources, vendor, api_base));
  if (model.trim() === '') throw new HiError('usage', 'The model name is empty.', { hint: 'Give a name: -m NAME' });
  const main: ModelSettings = {
    provider: vendor.name,
    model,
    api_key,
    api_base,
    context_window:
      (chosen.model === null || chosen.model === own?.model ? own?.context_window : undefined) ?? contextWindow(model),
  };
  const settings = filledIn(DEFAULTS, file ?? {});
  const preamble = sources.flags.preamble ?? settings.preamble;
  return { ...main, ...settings, preamble, small_model: await smallModel(sources, vendor, main) };
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

/** The vendor whose key is in the environment, else the first that answers without a key. */
async function detect(sources: Sources): Promise<Vendor | null> {
  const { vendors, env, file } = sources;
  const keyed = vendors.find((vendor) => vendor.keyVariables.some((name) => env[name]?.trim()));
  if (keyed) return keyed;
  for (const vendor of vendors.filter(({ keyVariables }) => keyVariables.length === 0)) {
    const models = await sources.models(vendor, file?.api_base ?? baseOf(vendor, env));
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

/** Whether an address is the vendor's own, under whatever path; null is. */
export function isOwnAddress({ ownHosts }: Pick<Vendor, 'ownHosts'>, address: string | null): boolean {
  if (address === null) return true;
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/\.$/, '');
  return port === '' && ownHosts.some((own) => host === own || host.endsWith(`.${own}`));
}

async function defaultModel(sources: Sources, vendor: Vendor, apiBase: string | null): Promise<string> {
  if (vendor.keyVariables.length > 0) return vendor.defaultModel;
  const models = await sources.models(vendor, apiBase);
  return models?.[0] ?? vendor.defaultModel;
}

async function smallModel(sources: Sources, vendor: Vendor, main: ModelSettings): Promise<ModelSettings | null> {
  const fromFile = sources.file?.small_model;
  if (fromFile === undefined) {
    // Another server may not have the vendor's fast model, so the main model is used there.
    if (vendor.fastModel === null || !isOwnAddress(vendor, main.api_base) || vendor.fastModel === main.model)
      return null;
    return { ...main, model: vendor.fastModel, context_window: contextWindow(vendor.fastModel) };
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
    context_window: fromFile.context_window ?? contextWindow(fromFile.model),
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
