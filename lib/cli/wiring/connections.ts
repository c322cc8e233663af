import { mayLeave } from '../../books/consent.js';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { type CacheRates, type CacheTerm, isOwnAddress, type ModelFacts, type ModelMemory } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import type { Config } from '../../config/config.js';
import { readKey } from '../../config/read-key.js';
import { baseWindow, contextWindow, makerElsewhere, publishedWindow, restAfter } from '../../config/resolve.js';
import type { ModelSettings } from '../../config/setting.js';
import { HiError } from '../../errors.js';
import type { Keeping } from '../../history/log.js';
import { isNear } from '../../http/address.js';
import { KnownModels } from '../../providers/common/known-models.js';
import type { Provider, ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { KNOWN_SERVERS, readyServers, requireServiceKey } from '../../servers/known-servers.js';
import type { Target } from '../../session/common/deps.js';
import type { SessionOptions } from '../base/options.js';
import { openDebugLog } from '../base/output.js';
import {
  readSettings,
  requireConfig,
  type Settings,
  type SettingsOptions,
  timeLimits,
  withTimeout,
} from '../base/settings.js';
import { requireTls } from '../base/warnings.js';
import type { World } from '../base/world.js';
import { withAllowedBooks } from './allowed-books.js';
import { keepLimits, type Limits } from './limited-provider.js';
import { withMaskedSecrets, withUsage } from './masked-provider.js';
import type { UsageRecord } from './price.js';
import { refreshFacts } from './refresh-facts.js';

type ConnectionOptions = SettingsOptions & Pick<SessionOptions, 'debug' | 'ask'>;

/** Connects models with their adapters, each of which is created when it is first needed, and records their usage. */
export class Connections {
  readonly #world: World;
  readonly #options: ConnectionOptions;
  readonly #settings: Settings;
  readonly #config: Config;
  readonly #known: KnownModels;
  readonly #used: UsageRecord[] = [];
  /** Off the record, `--debug` does not write its log. */
  readonly #keeping: () => Keeping;
  readonly #keys = new Map<string | null, { readonly key: Promise<string | null>; readonly at: number }>();
  /** Null as long as nothing is limited. */
  #limits: Limits | null = null;
  /** The settings of each target. */
  readonly #models = new WeakMap<Target, ModelSettings>();

  constructor(
    world: World,
    options: ConnectionOptions,
    settings: Settings,
    config: Config,
    keeping: () => Keeping = () => 'kept',
  ) {
    this.#world = world;
    this.#keeping = keeping;
    this.#options = options;
    this.#settings = settings;
    this.#config = config;
    this.#known = new KnownModels(settings.paths.knownModels);
  }

  /** A model as the session uses it. */
  target(model: ModelSettings): Target {
    const { provider, model: name, api_base } = model;
    const memory = this.#known.of({ provider, api_base, model: name });
    const member = pick<ProviderMember>(providers, provider, 'provider');
    const { options } = this.#extrasOf(model);
    const after = restAfter(this.#config, model);
    const cache_rates = cacheRates(member, model, options);
    const isNearServer = api_base === null ? member.keyVariables.length === 0 : isNear(api_base);
    const real = (): number =>
      model.window_is_set ? model.context_window : (memory.facts.context_window ?? model.context_window);
    const base = (): number => baseWindow(this.#config, model, real());
    const fast = (): Target | null => this.#fastBeside(model, memory.facts);
    const target: Target = {
      provider,
      model: name,
      ...(model.server !== undefined && { server: model.server }),
      ...(api_base !== null && { api_base: bareAddress(api_base) }),
      isNear: isNearServer,
      ...(isNearServer &&
        !model.api_key?.startsWith('!') && { askEarly: (signal) => this.#ask(model, memory, signal) }),
      isSingle: member.keyVariables.length === 0,
      ...(member.images && { images: member.images }),
      get context_window() {
        return base();
      },
      get window_is_known() {
        const isPublished = member.mostAssumed === undefined && publishedWindow(name) !== null;
        return model.window_is_set || isPublished || memory.facts.context_window !== undefined;
      },
      get model_window() {
        return real();
      },
      ...(after !== null && { rest: { after, cache_life: cache_rates.terms[0].life } }),
      cache_rates,
      keeps_tools: member.keyVariables.length > 0 && isOwnAddress(member, model.api_base),
      // Skills and tools share what stands before the conversation.
      ...(!model.window_is_set && { head_room: this.#config.view.head / 2 }),
      memory,
      get fast() {
        return fast();
      },
      options,
      weigh: (request, signal) => this.#weigh(model, { ...request, facts: memory.facts }, signal),
      connect: memoized(async (signal) => this.#counted(await this.#connect(model, signal), target)),
      ask: (signal, again) => this.#ask(model, memory, signal, again),
    };
    this.#models.set(target, model);
    return target;
  }

  #fastBeside(model: ModelSettings, { server: { fast_model } = {} }: ModelFacts): Target | null {
    if (fast_model === undefined || fast_model === model.model) return null;
    return this.target({
      ...model,
      model: fast_model,
      context_window: contextWindow(fast_model),
      window_is_set: false,
    });
  }

  /** Says that what is used from now on is of another turn. */
  beginTurn(): void {
    this.#limits?.beginTurn();
  }

  /** The provider, kept within the limits, with the usage of each answer recorded. */
  #counted(connected: Provider, target: Target): Provider {
    const { provider, model, api_base } = target;
    // A limit counts at the price of the model that is asked, which is what it reserves.
    return withUsage(this.#limited(connected, target), (usage) =>
      this.#used.push({ provider, model, api_base, at: this.#world.now(), usage }),
    );
  }

  #limited(provider: Provider, target: Target): Provider {
    const { limit } = this.#config;
    if (Object.values(limit).every((most) => most === null)) return provider;
    const { ledger } = this.#settings.paths;
    this.#limits ??= keepLimits(limit, ledger, () => this.#world.now(), this.#options.ask?.aboveLimit ?? null);
    return this.#limits.limited(provider, target);
  }

  /** The usage of every request so far, oldest first. */
  get used(): readonly UsageRecord[] {
    return this.#used;
  }

  /**
   * Another model by name, resolved like `--model`, with the key and address of its own server: that of `inUse` for a
   * name without one. Throws a `HiError` if it cannot be used.
   */
  async find(name: string, inUse: Target | null, signal?: AbortSignal): Promise<Target> {
    const target = this.target(requireConfig(await readSettings(this.#world, this.#named(name, inUse))));
    await target.connect(signal);
    return target;
  }

  /** The same for a name of `fallback`, which a model without a server or provider is not. */
  async next(name: string, signal?: AbortSignal): Promise<Target> {
    if (!name.includes('/') && !this.#isServer(name) && makerElsewhere(providers, this.#config, name) === null)
      throw new HiError('config', `No server has the name '${name}'.`, {
        hint: `Add it to "servers", or write a model with its provider: "PROVIDER/${name}".`,
      });
    return await this.find(name, null, signal);
  }

  #isServer(name: string): boolean {
    return Object.hasOwn(this.#config.servers, name) || KNOWN_SERVERS.some((known) => known.name === name);
  }

  /** The names of the servers that can be asked: those of the configuration, then services whose variables are set. */
  get serverNames(): readonly string[] {
    const ready = readyServers(this.#world.env).map(({ name }) => name);
    return [...new Set([...Object.keys(this.#config.servers), ...ready])];
  }

  /** A server by name with its usual model. Reads no key yet. Throws a `HiError` if it is not configured well. */
  async server(name: string): Promise<Target> {
    return this.target(requireConfig(await readSettings(this.#world, this.#named(name, null))));
  }

  #named(name: string, inUse: Target | null): SettingsOptions {
    const { provider: _previous, ...rest } = this.#options;
    if (inUse?.server !== undefined) return { ...rest, server: inUse.server, model: name };
    const isNamed = name.includes('/') || makerElsewhere(providers, this.#config, name) !== null;
    return { ...rest, ...(!isNamed && !this.#isServer(name) && { provider: this.#config.provider }), model: name };
  }

  /**
   * The chat models of a target's provider. Also remembers the facts in the list about the target's own model. Throws a
   * `HiError` if the server does not list them.
   */
  async models(target: Target, timeout = 10_000, signal?: AbortSignal): Promise<readonly string[]> {
    const { provider, model, memory } = target;
    const member = pick<ProviderMember>(providers, provider, 'provider');
    const access = await this.#access(this.#models.get(target) ?? this.#config, signal);
    const stopped = signal ?? new AbortController().signal;
    const listed = await withTimeout(timeout, stopped, (combined) => member.listModels(access, combined));
    memory.learn(listed.find(({ name }) => name === model)?.facts ?? {});
    return listed.filter(({ name, chats }) => chats || name === model).map(({ name }) => name);
  }

  /** Forgets what the configured model refused. */
  forgetRefusals(): void {
    this.#known.forgetRefusals(this.#config);
  }

  /** Every key in the configuration or in a vendor's variable, even if it is not in use: none of them may be shown. */
  async secrets(): Promise<readonly string[]> {
    const { file } = this.#settings;
    const { env } = this.#world;
    const used = [this.#config.api_key, this.#config.small_model?.api_key].map((key) =>
      this.#key(key ?? null).catch(() => null),
    );
    const known = KNOWN_SERVERS.map(({ keyVariable }) => keyVariable);
    const variables = ['HI_API_KEY', ...providers.flatMap(keyVariablesOf), ...known];
    const small = typeof file?.small_model === 'object' ? file.small_model?.api_key : null;
    const servers = Object.values(this.#config.servers);
    const others = [file?.api_key, small, ...servers.map(({ api_key }) => api_key)];
    const asked = [...this.#keys.values()].map(({ key }) => key.catch(() => null));
    const keys = await Promise.all([...used, ...asked, ...others, ...variables.map((name) => env[name]?.trim())]);
    const headers = [this.#config, ...servers].flatMap((one) => Object.values(one.headers ?? {}));
    return [...keys, ...headers].flatMap((key) => (key && !key.startsWith('!') ? [key] : []));
  }

  /** A command that prints the key runs once, and again when the key has expired. */
  #key(api_key: string | null, signal?: AbortSignal): Promise<string | null> {
    const now = this.#world.now().getTime();
    const { api_key_expires } = this.#config;
    const existing = this.#keys.get(api_key);
    if (existing && (api_key_expires === null || now < existing.at + api_key_expires * 1000)) return existing.key;
    const key = readKey(api_key, signal);
    this.#keys.set(api_key, { key, at: now });
    key.catch(() => this.#keys.delete(api_key));
    return key;
  }

  async #ask(model: ModelSettings, memory: ModelMemory, signal: AbortSignal, again = false): Promise<void> {
    const member = pick<ProviderMember>(providers, model.provider, 'provider');
    const now = this.#world.now().getTime();
    await refreshFacts(member, model, memory, () => this.#access(model, signal), { now, signal, again });
  }

  /** The options and headers of a model's server, which may contain secrets that no other server may see. */
  #extrasOf(model: ModelSettings): Pick<Config, 'options' | 'headers'> {
    if (isWhole(model)) return model;
    const { provider, api_base, server, options, headers } = this.#config;
    const isSame = provider === model.provider && server === model.server;
    return {
      options: isSame ? options : {},
      headers: isSame && api_base === model.api_base ? headers : {},
    };
  }

  async #connect(model: ModelSettings, signal?: AbortSignal): Promise<Provider> {
    if (model.api_key === null) requireServiceKey(model.server, model.api_base, this.#world.env);
    const member = pick<ProviderMember>(providers, model.provider, 'provider');
    const make = async (access: ProviderSettings): Promise<Provider> =>
      withAllowedBooks(
        withMaskedSecrets(await member.create(access), [access.apiKey ?? '', ...Object.values(access.headers ?? {})]),
        (book) => mayLeave(this.#settings.paths.imports, book, model.server ?? model.provider) === true,
      );
    const access = await this.#access(model, signal);
    if (!model.api_key?.startsWith('!')) return await make(access);
    const { RenewedProvider } = await import('./masked-provider.js');
    const current = async (refused: string | null, asked: AbortSignal) => {
      const known = this.#keys.get(model.api_key);
      if (refused !== null && (await known?.key) === refused) this.#keys.delete(model.api_key);
      return await this.#access(model, asked);
    };
    return new RenewedProvider({ access, provider: await make(access) }, current, make);
  }

  /** A key that a command prints is not asked for: a request without it has nearly the same size. */
  async #weigh(model: ModelSettings, request: ChatRequest, signal: AbortSignal): Promise<number> {
    const member = pick<ProviderMember>(providers, model.provider, 'provider');
    const api_key = model.api_key?.startsWith('!') && !this.#keys.has(model.api_key) ? null : model.api_key;
    const access = await this.#access({ ...model, api_key }, signal);
    const apiKey = access.apiKey ?? (member.keyVariables.length > 0 && model.api_base === null ? 'none' : null);
    let size = 0;
    const provider = await member.create({ ...access, apiKey, weigh: (characters) => (size ||= characters) });
    try {
      for await (const _ of provider.stream(request, signal));
    } catch (thrown) {
      if (size === 0) throw thrown;
    }
    return size;
  }

  #trace(): (line: string) => void {
    const write = openDebugLog(this.#settings.paths.log);
    return (line) => {
      if (this.#keeping() !== 'off-record') write(line);
    };
  }

  async #access(model: ModelSettings, signal?: AbortSignal): Promise<ProviderSettings> {
    const { provider, server, api_key, api_base } = model;
    const key_source = model.key_source ?? (server === undefined ? null : `servers.${server}.api_key`);
    const { headers } = this.#extrasOf(model);
    requireTls({ api_key, api_base }, this.#config);
    const apiKey = await this.#key(api_key, signal);
    return {
      apiKey,
      apiBase: api_base,
      ...(api_key?.startsWith('!') && { account: api_key }),
      ...(key_source && { keySource: keySourceText(key_source, api_key, this.#settings.paths.configFile) }),
      ...timeLimits(this.#world),
      options: optionsOf(isWhole(model) ? model : this.#config, provider),
      headers,
      env: this.#world.env,
      ...(this.#options.debug ? { trace: this.#trace() } : {}),
    };
  }
}

/** `OPENAI_API_KEY`, `api_key in '/home/me/.config/hi/config.json'`, and what runs there. */
function keySourceText(source: string, key: string | null, file: string): string {
  if (!source.endsWith('api_key')) return source;
  return key?.startsWith('!') ? `the command '${key.slice(1)}' (${source} in '${file}')` : `${source} in '${file}'`;
}

const keyVariablesOf = ({ keyVariables, hosted }: ProviderMember): readonly string[] =>
  hosted === undefined ? keyVariables : [...keyVariables, hosted.keyVariable];

/** The address without the parts that may be secret. */
function bareAddress(api_base: string): string {
  if (!URL.canParse(api_base)) return api_base;
  const { origin, pathname } = new URL(api_base);
  return origin + pathname.replace(/\/$/, '');
}

/** How long the server caches a prompt, and at which price. */
function cacheRates(member: ProviderMember, { model, api_base }: ModelSettings, options: JsonObject): CacheRates {
  const isOwn = member.keyVariables.length === 0 || isOwnAddress(member, api_base);
  const [usual = USUAL_TERM, ...others] = member.cacheTerms?.(model, options, isOwn) ?? [];
  const price = member.prices?.find(({ name }) => model.startsWith(name));
  return { terms: [usual, ...others], read: price === undefined ? USUAL_READ : price.cached / price.input };
}

const USUAL_TERM: CacheTerm = { life: 5 * 60_000, write: 1 };

/** The usual price of reading from a cache, as a share of that of input. */
const USUAL_READ = 0.1;

/** Whether these settings of a model are those of its server as a whole. */
const isWhole = (model: ModelSettings): model is Config => 'headers' in model;

/** The section of the configuration that has the provider's name. */
function optionsOf(config: Config, provider: string): JsonObject {
  const section: unknown = new Map<string, unknown>(Object.entries(config)).get(provider);
  return isJsonObject(section) ? section : {};
}

/** Runs `make` on the first call and keeps its promise. After a failure the next call runs it again. */
export function memoized<Value>(
  make: (signal?: AbortSignal) => Promise<Value>,
): (signal?: AbortSignal) => Promise<Value> {
  let made: Promise<Value> | null = null;
  return (signal) => {
    if (made !== null) return made;
    const making = make(signal);
    made = making;
    making.catch(() => {
      made = null;
    });
    return making;
  };
}
