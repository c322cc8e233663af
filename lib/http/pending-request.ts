/** A request that is waiting for its response, as plain values. */
export interface PendingRequest {
  readonly url: URL;
  readonly proxy: URL | null;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  readonly idleTimeout: number;
  /** The same until the headers arrive, and until the first data of the body arrives. */
  readonly firstTimeout: number;
  readonly startHint: string | null;
}
