import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { Readable } from 'node:stream';
import { agentFor, proxyFor } from '../../http/address.js';

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` over `node:http`, through the proxies of the environment. Node's own cannot be used, because the vendors'
 * adapters replace its streams with plain classes. Redirects are not followed, and every status is an answer: the SDK
 * handles both.
 */
export function nodeFetch(env: Readonly<Record<string, string | undefined>>): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input);
    const stop = new AbortController();
    const proxy = proxyFor(url, env);
    const agent = proxy === null ? null : await agentFor(url, proxy, stop.signal);
    const body = bodyOf(init.body);
    const request = url.protocol === 'https:' ? requestSecure : requestPlain;
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(url, {
      method: init.method ?? 'GET',
      headers: { ...typeOf(init.body), ...Object.fromEntries(new Headers(init.headers)), ...length },
      ...(agent !== null && { agent }),
    });
    outgoing.end(body ?? undefined);
    try {
      return new NodeResponse(await answerTo(outgoing, init.signal ?? null), url.href).asResponse();
    } catch (thrown) {
      stop.abort();
      throw thrown;
    }
  };
}

function bodyOf(body: RequestInit['body']): string | null {
  return body === undefined || body === null ? null : String(body);
}

const typeOf = (body: RequestInit['body']): Record<string, string> =>
  body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' } : {};

/** Resolves when the headers have arrived. `signal` aborts until the body has ended. */
function answerTo(outgoing: ClientRequest, signal: AbortSignal | null): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const abort = (): void => void outgoing.destroy(new DOMException('This operation was aborted', 'AbortError'));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    outgoing.on('close', () => signal?.removeEventListener('abort', abort));
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      incoming.on('error', () => {});
      resolve(incoming);
    });
  });
}

/** What the SDK reads of a response. */
class NodeResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers = new Headers();
  readonly body: ReturnType<typeof Readable.toWeb>;
  readonly url: string;
  readonly redirected = false;

  constructor(incoming: IncomingMessage, url: string) {
    this.status = incoming.statusCode ?? 0;
    this.statusText = incoming.statusMessage ?? '';
    for (const [name, values] of Object.entries(incoming.headersDistinct))
      for (const value of values ?? []) this.headers.append(name, value);
    this.body = Readable.toWeb(incoming);
    this.url = url;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  async text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  /** The same object, typed as the SDK expects. The SDK uses nothing else of it. */
  asResponse(): Response {
    return this as unknown as Response;
  }
}
