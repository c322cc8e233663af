import type { IncomingHttpHeaders } from 'node:http';
import type { FetchSettings } from './fetch-settings.js';
import { mask } from './mask-key.js';

/** Header names whose values are secrets. */
const SECRET = /auth|key|token|cookie|secret/i;

interface TracedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Writes down one exchange as it happens, line by line. */
export interface Tracer {
  request(request: TracedRequest): void;
  response(status: number, headers: IncomingHttpHeaders): void;
  chunk(bytes: Uint8Array): void;
}

/** A tracer for one exchange, with every key masked; null when nobody asked for a trace. */
export function tracer({ trace, apiKey }: FetchSettings): Tracer | null {
  if (trace === undefined) return null;
  const decoder = new TextDecoder();
  const write = (line: string) => trace(mask(line, apiKey));
  return {
    request({ method, url, headers, body }) {
      write(`> ${method} ${shown(url)} ${JSON.stringify(withoutSecrets(headers))}`);
      if (body !== null) write(`> ${body}`);
    },
    response(status, headers) {
      write(`< ${status} ${JSON.stringify(withoutSecrets(headers))}`);
    },
    chunk(bytes) {
      write(`< ${decoder.decode(bytes, { stream: true })}`);
    },
  };
}

function shown(url: URL): string {
  const copy = new URL(url);
  copy.username = '';
  copy.password = '';
  if (copy.searchParams.has('key')) copy.searchParams.set('key', '***');
  return copy.href;
}

function withoutSecrets(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, SECRET.test(name) ? '***' : value]));
}
