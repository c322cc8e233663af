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
export interface DownloadableModel {
  readonly name: string;
  /** The approximate size in bytes. */
  readonly bytes: number;
  /** What it is good for, in a few words. */
  readonly summary: string;
}

/** The prices of a model in dollars for a million tokens. Above `step` tokens of prompt all of a request costs more, by these factors. */
export interface PriceRow {
  /** How the model's names begin. */
  readonly name: string;
  readonly input: number;
  /** Of prompt that is read from the cache. */
  readonly cached: number;
  readonly output: number;
  readonly step?: { readonly above: number; readonly input: number; readonly output: number };
}

/** The data about a vendor. */
export interface Vendor {
  /** The name in the registry, the configuration and stored messages. */
  readonly name: string;
  /** As people write it: `OpenAI`. */
  readonly title: string;
  readonly defaultModel: string;
  /** The fast model for summaries when the configuration names none; null when there is no obvious one. */
  readonly fastModel: string | null;
  /** Environment variables that may hold the key, the first set one wins. Empty when the vendor needs no key. */
  readonly keyVariables: readonly string[];
  /** The vendor's own service where its servers are usually the users' own, and the variable that may hold the key for it. */
  readonly hosted?: { readonly hosts: readonly string[]; readonly keyVariable: string };
  /** Environment variable that may hold the address. */
  readonly baseVariable: string;
  /** The vendor's own hosts, which include their subdomains, such as those of regions. Empty if users run the servers themselves. */
  readonly ownHosts: readonly string[];
  /** Absent if it accepts images of any size. */
  readonly images?: ImageLimits;
  /** The default port of an address without a scheme; absent for that of http and https. */
  readonly port?: number;
  /** The largest window to assume, in tokens, until the server reports one; absent if every model always has its full window. */
  readonly mostAssumed?: number;
  /**
   * How long the server keeps the beginning of an unused request in its cache, in milliseconds, with these options of the user; 5 minutes if absent.
   * A vendor rule, not reported by servers.
   */
  cacheLife?(model: string, options: Readonly<Record<string, unknown>>): number;
  /** Where to get a key, for the hint; null if none is needed. */
  readonly keyPage: string | null;
  /** How the set-up describes other servers with the vendor's protocol; absent if there are none. */
  readonly elsewhere?: string;
  /** The vendor's id in the table of prices (@pydantic/genai-prices); absent when it has the same name there, or no prices. */
  readonly priceId?: string;
  /** The prices of models that the table of prices lacks, or prices as earlier ones. */
  readonly prices?: readonly PriceRow[];
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
