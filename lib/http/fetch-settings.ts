/** The settings of a request over HTTP. */
export interface FetchSettings {
  /** Never shown: masked in traces and errors. Null when there is none. */
  readonly apiKey: string | null;
  /** Sent with every request, and never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the server may stay silent before the request fails, in milliseconds. */
  readonly idleTimeout: number;
  /** How long a nearby server may take to begin its answer, if that is longer than `idleTimeout`, in milliseconds. */
  readonly nearbyTimeout?: number;
  /** How to start the server when nothing listens at the address, in sentences. */
  readonly startHint?: string;
  /** The environment of the process, which may name proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where `--debug` writes requests and responses, keys masked; absent without `--debug`. */
  readonly trace?: (line: string) => void;
}
