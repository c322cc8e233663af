import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { aborted, asNetworkError, idleError, type PendingRequest } from './failures.js';

/** A proxy, and the agent that connects through it. */
export interface Tunnel {
  readonly agent: Agent;
  close(): void;
}

/**
 * Sends a request with `node:http`. Resolves when the headers have arrived. If the server has closed a kept-alive
 * connection, it tries once more with a new one.
 */
export function send(call: PendingRequest, tunnel: Tunnel | null, fresh = false): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted) return reject(aborted());
    const outgoing = open(call, tunnel?.agent ?? null, fresh);
    const stop = watch(call, outgoing, (error) => {
      // Destroying a request that is waiting for its proxy has no effect.
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
  const request = call.url.protocol === 'https:' ? requestSecure : requestPlain;
  const length = call.body === null ? {} : { 'content-length': String(Buffer.byteLength(call.body)) };
  return request(call.url, {
    method: call.method,
    headers: { ...call.headers, ...length },
    agent: agent ?? (fresh ? false : undefined),
  });
}

/**
 * Calls `stop` with the reason when the caller aborts or the server is silent too long. Returns a function that ends
 * the watch. The timer restarts when the request has been sent: on a slow line a long one gets another second for every
 * 64 KiB.
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
