/** What is sent, as plain values. */
export interface Call {
  readonly url: URL;
  readonly proxy: URL | null;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  readonly idleTimeout: number;
  readonly startHint: string | null;
}
