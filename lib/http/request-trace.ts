import type { IncomingHttpHeaders } from 'node:http';
import type { FetchSettings } from './fetch-settings.js';
import { mask, shownAddress } from './mask-key.js';

/** Header names whose values are secrets. */
const SECRET = /auth|key|token|cookie|secret/i;

interface TracedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Logs one request and its response as they happen, line by line. */
export interface Tracer {
  request(request: TracedRequest): void;
  response(status: number, headers: IncomingHttpHeaders): void;
  chunk(bytes: Uint8Array): void;
}

/** A tracer for one request, with every key masked; null without `--debug`. */
export function tracer({ trace, apiKey, headers: own = {} }: FetchSettings): Tracer | null {
  if (trace === undefined) return null;
  const decoder = new TextDecoder();
  const secrets = [apiKey, ...Object.values(own)];
  const write = (line: string) => trace(secrets.reduce<string>(mask, line));
  const hidden = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  return {
    request({ method, url, headers, body }) {
      write(`> ${method} ${shownAddress(url.href)} ${JSON.stringify(withoutSecrets(headers, hidden))}`);
      if (body !== null) write(`> ${body}`);
    },
    response(status, headers) {
      write(`< ${status} ${JSON.stringify(withoutSecrets(headers, hidden))}`);
    },
    chunk(bytes) {
      write(`< ${decoder.decode(bytes, { stream: true })}`);
    },
  };
}

function withoutSecrets(
  headers: Readonly<Record<string, unknown>>,
  hidden: ReadonlySet<string>,
): Record<string, unknown> {
  const isSecret = (name: string): boolean => SECRET.test(name) || hidden.has(name);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecret(name) ? '***' : value]));
}
