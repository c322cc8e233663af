import type { IncomingHttpHeaders } from 'node:http';
import { HiError } from '../errors.js';
import { agentFor, isNear, proxyFor } from './address.js';
import { decompressed, readErrorText, toBody } from './body.js';
import { mask, type PendingRequest, refusePage, refuseRedirect, shownAddress } from './failures.js';
import { send, type Tunnel } from './send.js';
import { PlainResponse, usePlainGlobals } from './web-standard.js';

export type Fetch = typeof globalThis.fetch;

/** Disables the SDKs' own time limits: an answer may take any time as long as data arrives. */
export const SDK_TIMEOUT = 2 ** 31 - 1;

/**
 * The `fetch` for all SDKs. It uses `node:http`, which starts and ends several times faster than Node's own `fetch`,
 * honours the proxies in the environment, and gives up on a server that is silent for `idleTimeout`. Rejects with a
 * `network` `HiError` when the server cannot be reached or stops, with an abort error within the same tick when
 * `init.signal` aborts (both also while the body is read), and with a `RefusedRequest` for an error status.
 */
export function makeFetch(settings: FetchSettings): Fetch {
  usePlainGlobals();
  return async (input, init = {}) => {
    const url = toUrl(input);
    const proxy = proxyFor(url, settings.env);
    const method = init.method ?? 'GET';
    const request: PendingRequest = {
      url,
      proxy,
      method,
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...lowered(settings.headers) },
      body: typeof init.body === 'string' ? init.body : null,
      signal: init.signal ?? null,
      idleTimeout: settings.idleTimeout,
      firstTimeout: firstTimeout(url, method, settings),
      startHint: settings.startHint ?? null,
    };
    const trace = tracer(settings);
    trace?.request(request);
    const incoming = await send(request, proxy === null ? null : await throughProxy(url, proxy));
    const status = incoming.statusCode ?? 0;
    refuseRedirect(request, status, incoming, settings.apiKey);
    trace?.response(status, incoming.headers);
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headersDistinct)) {
      for (const one of value ?? []) headers.append(name, one);
    }
    const body = toBody(decompressed(incoming, headers), request, trace?.chunk);
    if (status >= 300) throw new RefusedRequest(status, headers, masked(await readErrorText(body, request), settings));
    refusePage(request, incoming);
    return new PlainResponse(body, { status, headers, url: url.href }).asResponse();
  };
}

/** A model on a CPU may read a long conversation for many minutes before it writes the first word. */
function firstTimeout(url: URL, method: string, { idleTimeout, nearbyTimeout = 0 }: FetchSettings): number {
  return method === 'POST' && isNear(url.href) ? Math.max(idleTimeout, nearbyTimeout) : idleTimeout;
}

/** The user's own headers with names in lower case, so that they replace others of the same name. */
function lowered(headers: FetchSettings['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A server's message without the values of the user's own headers, which it may repeat. */
function masked(text: string, { headers = {} }: FetchSettings): string {
  return Object.values(headers).reduce(mask, text);
}

function toUrl(input: Parameters<Fetch>[0]): URL {
  const text = typeof input === 'object' && 'url' in input ? input.url : String(input);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new HiError('config', `Not a web address: '${text}'.`, {
    hint: 'Set api_base to an address such as http://localhost:8000/v1.',
  });
}

async function throughProxy(url: URL, proxy: URL): Promise<Tunnel> {
  const controller = new AbortController();
  return { agent: await agentFor(url, proxy, controller.signal), close: () => controller.abort() };
}

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

/** Header names whose values are secrets. */
const SECRET = /auth|key|token|cookie|secret/i;

interface TracedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Logs one request and its response as they happen, line by line. */
interface Tracer {
  request(request: TracedRequest): void;
  response(status: number, headers: IncomingHttpHeaders): void;
  chunk(bytes: Uint8Array): void;
}

/** A tracer for one request, with every key masked; null without `--debug`. */
function tracer({ trace, apiKey, headers: own = {} }: FetchSettings): Tracer | null {
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

/**
 * A response with an error status. Our `fetch` throws it, so that it is the same for all vendors, whatever their SDKs
 * do with it.
 */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    // OpenAI's SDK replaces an error that mentions a timeout, so the message contains neither the body nor the status
    // text.
    super(`HTTP ${status}`);
    this.name = 'RefusedRequest';
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
