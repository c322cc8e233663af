import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { HiError } from '../errors.js';
import { RefusedRequest } from '../http/refused-request.js';
import { readErrorText, toBody } from './body.js';
import { decompressed } from './decompress.js';
import type { FetchSettings } from './fetch-settings.js';
import { mask } from './mask-key.js';
import { isNear } from './near-address.js';
import { aborted, asNetworkError, idleError } from './network-error.js';
import type { PendingRequest } from './pending-request.js';
import { PlainResponse, usePlainGlobals } from './plain-globals.js';
import { agentFor, proxyFor } from './proxy.js';
import { tracer } from './request-trace.js';
import { refusePage, refuseRedirect } from './unexpected-page.js';

export type Fetch = typeof globalThis.fetch;

/** The SDKs' own time limits are set out of the way: an answer may take any time as long as something comes. */
export const SDK_TIMEOUT = 2 ** 31 - 1;

/**
 * The `fetch` every SDK is given: over `node:http`, which starts and ends several times faster than Node's own, through the proxies of
 * the environment, and gives up on a server that sends nothing for `idleTimeout`. Rejects with a `network` `HiError` when the server cannot be reached
 * or stops, with a `RefusedRequest` for an error status, with an abort error within the same tick when `init.signal` aborts; the first and
 * the last also while the body is read.
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

/** A processor reads a long conversation for many minutes before it writes the first word. */
function firstTimeout(url: URL, method: string, { idleTimeout, patience = 0 }: FetchSettings): number {
  return method === 'POST' && isNear(url.href) ? Math.max(idleTimeout, patience) : idleTimeout;
}

/** The user's own headers, which replace those of the same name. */
function lowered(headers: FetchSettings['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** What a server says of a request without the user's own headers, which it may repeat. */
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

/** The way through a proxy. */
interface Tunnel {
  readonly agent: Agent;
  close(): void;
}

async function throughProxy(url: URL, proxy: URL): Promise<Tunnel> {
  const controller = new AbortController();
  return { agent: await agentFor(url, proxy, controller.signal), close: () => controller.abort() };
}

/** Resolves when the headers have come. A kept connection that the server had closed meanwhile is replaced by a new one, once. */
function send(call: PendingRequest, tunnel: Tunnel | null, fresh = false): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted) return reject(aborted());
    const outgoing = open(call, tunnel?.agent ?? null, fresh);
    const stop = watch(call, outgoing, (error) => {
      // A request that waits for its proxy does not notice that it is destroyed.
      reject(asNetworkError(error, call));
      outgoing.destroy(error);
      tunnel?.close();
    });
    outgoing.on('response', (incoming) => {
      stop();
      resolve(incoming);
    });
    outgoing.on('error', (error) => {
      stop();
      if (outgoing.reusedSocket && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
        resolve(send(call, tunnel, true));
      else reject(asNetworkError(error, call));
    });
    outgoing.end(call.body ?? undefined);
  });
}

function open(call: PendingRequest, agent: Agent | null, fresh: boolean): ClientRequest {
  // `import` of node:http costs 20 ms on Node 24, where it pulls in undici; this does not.
  const http = process.getBuiltinModule(call.url.protocol === 'https:' ? 'node:https' : 'node:http');
  const length = call.body === null ? {} : { 'content-length': String(Buffer.byteLength(call.body)) };
  return http.request(call.url, {
    method: call.method,
    headers: { ...call.headers, ...length },
    agent: agent ?? (fresh ? false : undefined),
  });
}

/**
 * Calls `stop` with the reason when the caller aborts or the server is silent too long; returns what ends the watch. The clock starts anew
 * when the request is out: a long one on a slow line may take its time, a second for every 64 KiB.
 */
function watch(call: PendingRequest, outgoing: ClientRequest, stop: (reason: Error) => void): () => void {
  const onAbort = () => stop(aborted());
  const giveUp = () => stop(idleError(call.url, call.firstTimeout));
  let timer = setTimeout(giveUp, call.firstTimeout + (call.body?.length ?? 0) / 64);
  const onSent = () => {
    clearTimeout(timer);
    timer = setTimeout(giveUp, call.firstTimeout);
  };
  outgoing.once('finish', onSent);
  call.signal?.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    outgoing.off('finish', onSent);
    call.signal?.removeEventListener('abort', onAbort);
  };
}
