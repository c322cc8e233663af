/** A vendor's limits for images: bytes of their base64, and sides in pixels. Larger images are sent smaller. */
export interface ImageLimits {
  /** The limit for one image. */
  readonly bytes: number;
  /** The longest side; absent if there is no limit. */
  readonly side?: number;
  /** The longest side in a request with more than `count` images; absent if it is the same. */
  readonly many?: { readonly count: number; readonly side: number };
  /** The limit for all files of a request, with room left for its text. */
  readonly request: number;
  /** The longest side that the models use. */
  readonly used: number;
}

/** A model that a server can download. */
interface DownloadableModel {
  readonly name: string;
  /** The approximate size in bytes. */
  readonly bytes: number;
  /** What it is good for, in a few words. */
  readonly summary: string;
}

/**
 * The prices of a model in dollars for a million tokens. Above `step` tokens of prompt all of a request costs more, by
 * these factors.
 */
export interface PriceRow {
  /** The model's name, which a date may follow. */
  readonly name: string;
  readonly input: number;
  /** Of prompt that is read from the cache. */
  readonly cached: number;
  readonly output: number;
  readonly step?: { readonly above: number; readonly input: number; readonly output: number };
}

/** One way in which a server keeps the beginning of a request. */
export interface CacheTerm {
  /** How long it is kept if nothing reads it, in milliseconds; 0 if it is not kept. */
  readonly life: number;
  /** The price of writing it, as a factor of that of other input. */
  readonly write: number;
}

/** What a vendor's cache costs. */
export interface CacheRates {
  readonly terms: readonly [CacheTerm, ...CacheTerm[]];
  /** The price of reading from it, as a factor of that of other input. */
  readonly read: number;
}

/** The data about a vendor. */
export interface Vendor {
  /** The name in the registry, the configuration and stored messages. */
  readonly name: string;
  /** As people write it: `OpenAI`. */
  readonly title: string;
  readonly defaultModel: string;
  /** Matches the names that only this vendor's models have; absent if there are none. */
  readonly ownNames?: RegExp;
  /** The fast model for summaries when the configuration names none; null when there is no obvious one. */
  readonly fastModel: string | null;
  /** Environment variables that may hold the key, the first set one wins. Empty when the vendor needs no key. */
  readonly keyVariables: readonly string[];
  /**
   * The vendor's own service where its servers are usually the users' own, and the variable that may hold the key for
   * it.
   */
  readonly hosted?: { readonly hosts: readonly string[]; readonly keyVariable: string };
  /** Environment variable that may hold the address. */
  readonly baseVariable: string;
  /**
   * The vendor's own hosts, which include their subdomains, such as those of regions. Empty if users run the servers
   * themselves.
   */
  readonly ownHosts: readonly string[];
  /** Absent if it accepts images of any size. */
  readonly images?: ImageLimits;
  /** The default port of an address without a scheme; absent for that of http and https. */
  readonly port?: number;
  /**
   * The largest window to assume, in tokens, until the server reports one; absent if every model always has its full
   * window.
   */
  readonly mostAssumed?: number;
  /**
   * The ways in which the server keeps the beginning of requests to this model in its cache, with these options of the
   * user; first that of a request that asks for none. `isOwn`: whether the server is the vendor's own. Absent, or none,
   * if there is only the usual one of 5 minutes. A vendor rule, not reported by servers.
   */
  cacheTerms?(model: string, options: Readonly<Record<string, unknown>>, isOwn: boolean): readonly CacheTerm[];
  /** Where to get a key, for the hint; null if none is needed. */
  readonly keyPage: string | null;
  /** How the set-up describes other servers with the vendor's protocol; absent if there are none. */
  readonly elsewhere?: string;
  /**
   * The vendor's id in the table of prices (@pydantic/genai-prices); absent when it has the same name there, or no
   * prices.
   */
  readonly priceId?: string;
  /** The prices of models that the table of prices lacks, or prices as earlier ones. */
  readonly prices?: readonly PriceRow[];
  /** The price of a web search by this model in dollars, if the table of prices lacks it. */
  searchPrice?(model: string): number;
  /** The models to offer for download if a server has none, the usual one first; absent if it cannot download any. */
  readonly downloads?: readonly DownloadableModel[];
  /** What to do about some failures, if there is specific advice for this vendor. Whole sentences. */
  readonly hints?: {
    /** The key is refused. */
    readonly key?: string;
    /** The server does not have the model. */
    model?(model: string): string;
    /** Nothing listens at the address. */
    readonly start?: string;
    /** Nothing answers at the path. */
    readonly path?: string;
    /** The server has no model at all. */
    readonly firstModel?: string;
  };
}

/**
 * Features of a request that some models do not support. `opaque`: signed or encrypted parts of earlier answers.
 * `system`: a system message. `calls`: earlier calls as calls, not as text. `call_ids`: the original ids of calls.
 * `summaries`: a request for summaries of the thinking. `schema`: a schema for the answer. `thoughts`: thinking of
 * earlier answers; true if the server demands it with each of them. `stream`: a streamed answer. `output_limit`: the
 * maximum length of the answer. `extras`: fields that do not affect the answer, such as cache marks and the request for
 * usage in the stream.
 */
export type Feature =
  | 'tools'
  | 'calls'
  | 'parallel_calls'
  | 'images'
  | 'documents'
  | 'audio'
  | 'opaque'
  | 'thoughts'
  | 'web'
  | 'system'
  | 'call_ids'
  | 'summaries'
  | 'schema'
  | 'stream'
  | 'chat'
  | 'responses'
  | 'output_limit'
  | 'extras';

/**
 * What a model may refuse: a feature, a level of thinking, a file by its SHA-256, an option as `optionName` writes it,
 * a tool as `toolKey` names it, a schema as `schemaKey` does. `earlier_opaque` and `earlier_parts`: opaque parts, and
 * all but text, in messages from before the refusal. `usual_form`: a request that a plainer one had to replace, without
 * a reason.
 */
export type Refusable =
  | Feature
  | `thinking ${ThinkingLevel}`
  | `file ${string}`
  | `option ${string}`
  | `tool ${string}`
  | `schema ${string}`
  | 'earlier_opaque'
  | 'earlier_parts'
  | 'usual_form';

/**
 * What is known about a model at a server: reported by the server, or learnt from a rejected request. Absent means
 * unknown.
 */
export interface ModelFacts {
  /** In tokens, as reported by the server. */
  readonly context_window?: number;
  /** The maximum length of an answer, in tokens. */
  readonly max_output_tokens?: number;
  /** Whether the model supports something. */
  readonly takes?: { readonly [Name in Refusable]?: boolean };
  /**
   * When a refusal was learnt, in milliseconds since 1970: it is forgotten after an hour. Facts that the server
   * reported have no time here.
   */
  readonly refused_at?: { readonly [Name in Refusable]?: number };
  /** The last measured ratio of the model's tokens to the estimate (characters / 4). */
  readonly token_ratio?: number;
  /**
   * `fixed_window`: the window that is set on the server, which no request should change; 0 for none. `loaded_window`:
   * that of the last request, since the server reloads the model for another. `fast_model`: that of the same maker, as
   * the server lists it.
   */
  readonly server?: {
    readonly fixed_window?: number;
    readonly loaded_window?: number;
    readonly fast_model?: string;
  };
  /** When the server was last asked about the model, in milliseconds since 1970; absent if never. */
  readonly asked_at?: number;
}

/** The facts of one model at one server. They outlive the process. */
export interface ModelMemory {
  /** What is known now. */
  readonly facts: ModelFacts;
  /** Adds to what is known; see `mergeFacts`. Never throws. */
  learn(more: ModelFacts): void;
}

/**
 * Merges facts: `takes`, `refused_at` and `server` by name, anything else is replaced. What works again is no longer
 * listed as refused.
 */
export function mergeFacts(earlier: ModelFacts, more: ModelFacts): ModelFacts {
  const takes: ModelFacts['takes'] = { ...earlier.takes, ...more.takes };
  const times = Object.entries({ ...earlier.refused_at, ...more.refused_at });
  const refused_at = Object.fromEntries(times.filter(([name]) => takes[name as Refusable] !== true));
  return {
    ...earlier,
    ...more,
    ...(more.server && { server: { ...earlier.server, ...more.server } }),
    ...(Object.keys(takes).length > 0 && { takes }),
    ...(Object.keys(refused_at).length > 0 || earlier.refused_at ? { refused_at } : {}),
  };
}

/** When each refusal was learnt. */
export const timesOf = ({ refused_at = {} }: ModelFacts): readonly (readonly [string, number])[] =>
  Object.entries(refused_at).flatMap(([name, at]) => (at === undefined ? [] : [[name, at] as const]));

/**
 * How long a refusal is remembered, in milliseconds: servers get new models and templates under the same names, and not
 * every refusal means what it says.
 */
export const REFUSAL_LIFE = 60 * 60 * 1000;

/** The facts without outdated refusals. */
export function currentFacts(facts: ModelFacts, now: number): ModelFacts {
  const old = timesOf(facts).flatMap(([name, at]) => (now - at > REFUSAL_LIFE || at > now ? [name] : []));
  return old.length === 0 ? facts : without(facts, old);
}

/** The facts without any refusals. */
export const factsAsTold = (facts: ModelFacts): ModelFacts =>
  without(facts, [...Object.keys(facts.refused_at ?? {}), ...APIS]);

/** OpenAI's two APIs. Which of them a server wants is not given up, so it is not tried again. */
const APIS: readonly Refusable[] = ['chat', 'responses'];

/** The refusal of these, learnt now. */
export const refusedNow = (names: readonly Refusable[], now: number): Pick<ModelFacts, 'takes' | 'refused_at'> => ({
  takes: Object.fromEntries(names.map((name) => [name, false])),
  refused_at: Object.fromEntries(names.filter((name) => !APIS.includes(name)).map((name) => [name, now])),
});

/** Whether the model is known not to take something. */
export const isRefused = (facts: ModelFacts | undefined, name: Refusable): boolean => facts?.takes?.[name] === false;

function without({ takes, refused_at, ...rest }: ModelFacts, refusals: readonly string[]): ModelFacts {
  const kept = <Value>(fields: { readonly [name: string]: Value }) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !refusals.includes(name)));
  return { ...rest, takes: kept(takes ?? {}), refused_at: kept(refused_at ?? {}) };
}

/** Whether a message is from before the refusal of something in it. */
const isBefore = ({ at }: { readonly at?: string }, refused: number | undefined): boolean =>
  refused !== undefined && !(Date.parse(at ?? '') > refused);

/** Whether a message is sent as text only, unless it is the user's newest. */
export const goesInWords = (message: { readonly at?: string }, { refused_at }: ModelFacts): boolean =>
  isBefore(message, refused_at?.earlier_parts);

/** Whether a message is sent without its opaque parts. */
export const goesWithoutOpaque = (message: { readonly at?: string }, facts: ModelFacts): boolean =>
  isRefused(facts, 'opaque') || isBefore(message, facts.refused_at?.earlier_opaque);

/** An option with its value, because another value may be accepted. */
export const optionName = ([name, value]: readonly [string, unknown]): string => `${name}=${JSON.stringify(value)}`;

/** The thinking levels, lowest first. */
export const THINKING_LEVELS = ['off', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** How hard the model should think; each adapter maps it to its vendor's own setting. Null leaves it to the vendor. */
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/**
 * The nearest levels to one that a model does not support: first those that think as much or more, but none that costs
 * far more.
 */
const NEXT: Readonly<Record<ThinkingLevel, readonly ThinkingLevel[]>> = {
  off: ['low', 'medium', 'high'],
  low: ['medium', 'high', 'off'],
  medium: ['high', 'low', 'off'],
  high: ['medium', 'xhigh', 'low', 'max', 'off'],
  xhigh: ['high', 'max', 'medium', 'low', 'off'],
  max: ['xhigh', 'high', 'medium', 'low', 'off'],
};

/** The level itself, or the nearest that was not refused; null if none is left. */
export function nextThinking(level: ThinkingLevel, facts: ModelFacts | undefined): ThinkingLevel | null {
  return [level, ...NEXT[level]].find((one) => !isRefused(facts, `thinking ${one}`)) ?? null;
}

/** Whether the model may search the web. `auto`: if its vendor has a search that costs nothing unless it is used. */
export const WEB_MODES = ['off', 'on', 'auto'] as const;

export type WebMode = (typeof WEB_MODES)[number];

/** Whether an address is the vendor's own, with any path. True for null. */
export function isOwnAddress({ ownHosts }: Pick<Vendor, 'ownHosts'>, address: string | null): boolean {
  if (address === null) return true;
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/\.$/, '');
  return port === '' && ownHosts.some((own) => host === own || host.endsWith(`.${own}`));
}
