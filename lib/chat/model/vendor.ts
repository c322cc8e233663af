/** The pictures a vendor takes; sizes in bytes are of their base64, sides in pixels. What is too large is sent smaller. */
export interface ImageLimits {
  /** The largest picture. */
  readonly bytes: number;
  /** The longest side; absent when any is taken. */
  readonly side?: number;
  /** A shorter longest side for the pictures of a request with more than `count` of them; absent when there is none. */
  readonly many?: { readonly count: number; readonly side: number };
  /** All files of a request, with room for its words. */
  readonly request: number;
  /** The longest side that the models make use of. */
  readonly used: number;
}

/** A model that a server can download. */
export interface DownloadableModel {
  readonly name: string;
  /** About how many bytes. */
  readonly bytes: number;
  /** What it is good for, in a few words. */
  readonly summary: string;
}

/** What the program knows of a vendor, as data. */
export interface Vendor {
  /** The registry's name, as the configuration and every stored message have it. */
  readonly name: string;
  /** As people write it: `OpenAI`. */
  readonly title: string;
  readonly defaultModel: string;
  /** The fast model for summaries when the configuration names none; null when there is no obvious one. */
  readonly fastModel: string | null;
  /** Environment variables that may hold the key, the first set one wins. Empty when the vendor needs no key. */
  readonly keyVariables: readonly string[];
  /** Environment variable that may hold the address. */
  readonly baseVariable: string;
  /** The hosts that are the vendor's own; those below them, such as the ones of regions, are its own too. Empty when the vendor's servers are the users'. */
  readonly ownHosts: readonly string[];
  /** Absent when it takes pictures of any size. */
  readonly images?: ImageLimits;
  /** The port of an address that names neither a scheme nor a port; absent for the web's own. */
  readonly port?: number;
  /** The largest window that is assumed of a model while the server has not reported it, in tokens; absent where the window is the model's own. */
  readonly mostAssumed?: number;
  /** Where a new key can be had, for the hint; null when none is needed. */
  readonly keyPage: string | null;
  /** How the set-up offers other people's servers that speak the vendor's protocol; absent where there are none. */
  readonly elsewhere?: string;
  /** The vendor's id in the table of prices (@pydantic/genai-prices); absent when it has the same name there, or no prices. */
  readonly priceId?: string;
  /** First models to choose from where a server has none and can download them, the usual one first; absent where it cannot. */
  readonly downloads?: readonly DownloadableModel[];
  /** What to do about some failures, where this vendor has more to say than the others. Whole sentences. */
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
