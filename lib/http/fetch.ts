import { HiError } from '../errors.js';
import { RefusedRequest } from '../http/refused-request.js';
import { readErrorText, toBody } from './body.js';
import { decompressed } from './decompress.js';
import type { FetchSettings } from './fetch-settings.js';
import { mask } from './mask-key.js';
import { isNear } from './near-address.js';
import type { PendingRequest } from './pending-request.js';
import { PlainResponse, usePlainGlobals } from './plain-globals.js';
import { agentFor, proxyFor } from './proxy.js';
import { tracer } from './request-trace.js';
import { send, type Tunnel } from './send.js';
import { refusePage, refuseRedirect } from './unexpected-page.js';

export type Fetch = typeof globalThis.fetch;

/** Disables the SDKs' own time limits: an answer may take any time as long as data arrives. */
export const SDK_TIMEOUT = 2 ** 31 - 1;

/**
 * The `fetch` for all SDKs. It uses `node:http`, which starts and ends several times faster than Node's own `fetch`, honours the proxies in
 * the environment, and gives up on a server that is silent for `idleTimeout`. Rejects with a `network` `HiError` when the server cannot be reached
 * or stops, with an abort error within the same tick when `init.signal` aborts (both also while the body is read), and with a `RefusedRequest`
 * for an error status.
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
