/** The settings of a request over HTTP. */
export interface FetchSettings {
  /** Never shown: masked in traces and errors. Null when there is none. */
  readonly apiKey: string | null;
  /** Go with every request, and are never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the server may send nothing before the request fails, in milliseconds. */
  readonly idleTimeout: number;
  /** How long a server near by may take until its answer begins, where that is longer, in milliseconds. */
  readonly patience?: number;
  /** What to do when nothing listens at the address, in sentences; absent when nothing more is known of the server. */
  readonly startHint?: string;
  /** Environment of the process: proxies are read from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where `--debug` writes requests and responses, keys masked; absent without `--debug`. */
  readonly trace?: (line: string) => void;
}
