import { isOwnAddress, type Vendor } from '../chat/model.js';
import type { ConfigFile } from '../config/config.js';
import { isListed, type Sources, vendorIn } from '../config/resolve.js';
import type { NamedServer } from '../config/setting.js';
import { HiError } from '../errors.js';
import { pick } from '../registry.js';
import { KNOWN_SERVERS, type KnownServer, readyServers } from './known-servers.js';

/** A server that has a name: one of the configuration, or a service that hi knows. */
export interface ServerChoice {
  readonly name: string;
  /** What the configuration says of it, completed by what is known of the service. */
  readonly server: NamedServer & { readonly provider: string };
  /** The fast model of its service; null if there is none. */
  readonly fastModel: string | null;
  /** The model that was asked for; null for its usual one. */
  readonly model: string | null;
  /** Where its key stands: a variable, or the path of a key of the configuration. */
  readonly keySource: string;
}

/** What decides which server is asked. */
export interface Asked extends Pick<Sources, 'file' | 'env' | 'vendors' | 'models'> {
  /** What was typed after `-m` or is in HI_MODEL: a model, `server`, or `server/model`. Null for nothing. */
  readonly typed: string | null;
  /** The provider of the command line, else of HI_PROVIDER. It is that of the flat form. */
  readonly provider: string | null;
  /** The server in use, for a model without a server; null for that of the configuration. */
  readonly inUse: string | null;
}

/**
 * The server by name that is to be asked; null for that of the flat form. A name of the configuration comes first, then
 * a service that the server in use does not list as the maker of a model, as gateways do. Throws a `HiError` for an
 * entry that does not say enough.
 */
export async function chooseServer(asked: Asked): Promise<ServerChoice | null> {
  const { typed, vendors } = asked;
  const usual = usualServer(asked);
  if (typed === null) return usual;
  const slash = typed.indexOf('/');
  const name = slash < 0 ? typed : typed.slice(0, slash);
  const model = slash < 0 ? null : typed.slice(slash + 1) || null;
  if (Object.hasOwn(asked.file?.servers ?? {}, name)) return serverBy(name, model, asked);
  const known = KNOWN_SERVERS.find((one) => one.name === name);
  if (known !== undefined && (model === null || !(await listsIt(asked, usual, typed))))
    return serverBy(name, model, asked);
  if (usual === null) return null;
  const isVendor = slash > 0 && vendors.some((vendor) => vendor.name === name);
  if (isVendor && !(await listsIt(asked, usual, typed))) return null;
  return { ...usual, model: typed };
}

/**
 * The server for a question that names none: the first of the configuration, unless that has the flat form, or its
 * `model` names another.
 */
function usualServer(asked: Asked): ServerChoice | null {
  const { file, env, provider, inUse, vendors } = asked;
  if (inUse !== null) return serverBy(inUse, null, asked);
  if (provider !== null || env.HI_API_BASE || file?.provider || file?.api_base) return null;
  const [first] = Object.keys(file?.servers ?? {});
  const [name = '', ...rest] = file?.model?.split('/') ?? [];
  if (first === undefined) {
    const named = KNOWN_SERVERS.find((one) => one.name === name && env[one.keyVariable]?.trim());
    if (named !== undefined) return serverBy(named.name, rest.join('/') || null, asked);
    const [ready] = file?.api_key || env.HI_API_KEY?.trim() || vendorIn(env, vendors) ? [] : readyServers(env);
    return ready === undefined ? null : serverBy(ready.name, file?.model ?? null, asked);
  }
  if (Object.hasOwn(file?.servers ?? {}, name)) return serverBy(name, rest.join('/') || null, asked);
  return serverBy(first, file?.model ?? null, asked);
}

/** Whether the server in use is a gateway that lists a model by that name. */
async function listsIt(asked: Asked, usual: ServerChoice | null, typed: string): Promise<boolean> {
  const { provider, env, file } = asked;
  if (usual !== null) return await isListed(sourcesOf(asked, usual), usual.server.provider, typed);
  return await isListed({ ...asked, flags: {} }, provider ?? env.HI_PROVIDER ?? file?.provider ?? null, typed);
}

/**
 * A server by its name, as the configuration and the table of services describe it. Throws a `HiError` where they do
 * not say enough.
 */
export function serverBy(
  name: string,
  model: string | null,
  { file, env, vendors }: Pick<Asked, 'file' | 'env' | 'vendors'>,
): ServerChoice {
  const own: NamedServer = file?.servers?.[name] ?? {};
  const known = KNOWN_SERVERS.find((one) => one.name === name);
  const isService = known !== undefined && own.provider === undefined && !own.api_base;
  // What servers of others speak.
  const usual = vendors.find(({ elsewhere }) => elsewhere !== undefined)?.name ?? '';
  if (isService) return serviceBy(known, { provider: usual, ...own }, model, env);
  const provider = own.provider ?? (own.api_base ? usual : undefined);
  if (provider === undefined)
    throw new HiError('config', `The server '${name}' in config.json has neither a provider nor an address.`, {
      hint: `Set servers.${name}.provider or servers.${name}.api_base.`,
    });
  return { name, server: { ...own, provider }, fastModel: null, model, keySource: `servers.${name}.api_key` };
}

function serviceBy(
  { name, title, keyVariable, address, model: usualModel, fastModel, options }: KnownServer,
  own: ServerChoice['server'],
  model: string | null,
  env: Asked['env'],
): ServerChoice {
  const fromFile = own.api_key?.trim();
  const api_key = fromFile || env[keyVariable]?.trim() || null;
  const api_base = address(env);
  if (api_base === null)
    throw new HiError('config', `The address of ${title} is not set.`, {
      hint: `Set AZURE_OPENAI_ENDPOINT, or servers.${name}.api_base in config.json.`,
    });
  const usual = own.model ?? usualModel(env) ?? undefined;
  const server = { ...(options && { options }), ...own, api_key, api_base };
  return {
    name,
    server: { ...server, ...(usual !== undefined && { model: usual }) },
    fastModel,
    model,
    keySource: fromFile ? `servers.${name}.api_key` : keyVariable,
  };
}

/**
 * The sources of the settings as if the server were the only one, in the flat form. No variable of another account is
 * in its environment: those of its vendor are for the vendor's own address, and for its own key.
 */
export function sourcesOf(
  { file, env, vendors, models }: Pick<Asked, 'file' | 'env' | 'vendors' | 'models'>,
  { server, model, fastModel }: ServerChoice,
): Sources {
  const { provider: _provider, model: _model, api_key, api_base, small_model, ...shared } = withoutFlat(file, vendors);
  return {
    vendors,
    models,
    flags: model === null ? {} : { model },
    env: environmentOf(env, pick(vendors, server.provider, 'provider'), server),
    file: { ...shared, ...server, ...smallModelOf(small_model, fastModel, model ?? server.model) },
  };
}

/** The file without what is meant for the server of the flat form only, such as the sections of its vendor. */
function withoutFlat(file: ConfigFile | null, vendors: readonly Vendor[]): ConfigFile {
  const { context_window: _window, options: _options, headers: _headers, ...rest } = file ?? {};
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !vendors.some((vendor) => vendor.name === name)));
}

/** The fast model that the file names with its own provider or address; a model alone is one of the flat form. */
function smallModelOf(
  named: ConfigFile['small_model'],
  fastModel: string | null,
  main: string | undefined,
): Pick<ConfigFile, 'small_model'> {
  const isElsewhere = typeof named === 'object' && named !== null && (named.provider ?? named.api_base) !== undefined;
  if (named === null || isElsewhere) return { small_model: named };
  return fastModel === null || fastModel === main ? {} : { small_model: { model: fastModel } };
}

function environmentOf(env: Asked['env'], vendor: Vendor, { api_key, api_base }: NamedServer): Asked['env'] {
  const isOwn = isOwnAddress(vendor, api_base || null);
  const hidden = [
    ...['HI_API_KEY', 'HI_API_BASE', 'HI_MODEL', 'HI_PROVIDER'],
    ...(isOwn ? [] : vendor.keyVariables),
    ...(api_key || api_base ? [vendor.baseVariable] : []),
  ];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name)));
}
