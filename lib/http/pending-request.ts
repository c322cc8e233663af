/** A request that is sent and not answered yet, as plain values. */
export interface PendingRequest {
  readonly url: URL;
  readonly proxy: URL | null;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  readonly idleTimeout: number;
  /** The same for what comes first, of the headers and of the body. */
  readonly firstTimeout: number;
  readonly startHint: string | null;
}
