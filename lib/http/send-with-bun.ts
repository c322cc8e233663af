import type { ByteStream } from './body.js';
import { aborted, asNetworkError, idleError, type PendingRequest } from './failures.js';
import { send as sendWithNode, type Tunnel } from './send.js';

/** What listeners get of each event. */
interface Events {
  data: Uint8Array;
  end: undefined;
  error: Error;
  close: undefined;
}

type Listener<Name extends keyof Events> = (value: Events[Name]) => void;

/**
 * The body of a response of Bun's `fetch` as a stream of bytes. Node's `Readable` would take a start as long as the
 * request.
 */
export class FetchedBody implements ByteStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #controller: AbortController;
  readonly #listeners: { readonly [Name in keyof Events]: Listener<Name>[] } = {
    data: [],
    end: [],
    error: [],
    close: [],
  };
  #isFlowing = false;
  #isReading = false;
  #isOver = false;

  /** `controller` aborts the request of the response. */
  constructor({ body }: Response, controller: AbortController) {
    this.#reader = body?.getReader() ?? null;
    this.#controller = controller;
  }

  on<Name extends keyof Events>(event: Name, listener: Listener<Name>): this {
    this.#listeners[event].push(listener);
    return this;
  }

  pause(): this {
    this.#isFlowing = false;
    return this;
  }

  resume(): this {
    this.#isFlowing = true;
    if (!this.#isReading) void this.#read();
    return this;
  }

  destroy(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.abort();
    process.nextTick(() => {
      if (error !== undefined) this.#emit('error', error);
      this.#emit('close', undefined);
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (let read = await this.#next(); read !== null; read = await this.#next()) yield read;
      this.#isOver = true;
    } finally {
      this.destroy();
    }
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isFlowing && !this.#isOver) {
        const bytes = await this.#next();
        if (bytes === null) this.#end();
        else if (!this.#isOver) this.#emit('data', bytes);
      }
    } catch (thrown) {
      this.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
    this.#isReading = false;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#emit('end', undefined);
    this.#emit('close', undefined);
  }

  /** The next bytes; null at the end. */
  async #next(): Promise<Uint8Array | null> {
    const read = await this.#reader?.read();
    return read?.value ?? null;
  }

  #emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
    for (const listener of this.#listeners[event]) listener(value);
  }
}

/** Bun's additions to the standard options. Without these it decompresses, and gives up after five minutes. */
interface BunRequest extends RequestInit {
  readonly decompress: false;
  readonly timeout: false;
}

/**
 * Sends a request with Bun's own `fetch`. It replaces `send.ts` in the executable, where `node:http` makes a start ten
 * milliseconds slower. Resolves when the headers have arrived. Requests through a proxy still use `node:http`.
 */
export async function send(call: PendingRequest, tunnel: Tunnel | null) {
  // Bun's `fetch` reads the proxy variables itself, and not like curl.
  if (tunnel !== null || Object.keys(process.env).some((name) => /^(?:https?|all)_proxy$/i.test(name)))
    return await sendWithNode(call, tunnel);
  const controller = new AbortController();
  return await new Promise<ReturnType<typeof asIncoming>>((resolve, reject) => {
    if (call.signal?.aborted) return reject(aborted());
    const end = watch(call, (reason) => {
      end();
      reject(asNetworkError(reason, call));
      controller.abort();
    });
    fetch(call.url, requestOf(call, controller.signal)).then(
      (response) => {
        end();
        resolve(asIncoming(response, controller));
      },
      (error: unknown) => {
        end();
        reject(asNetworkError(error, call));
      },
    );
  });
}

function requestOf({ method, headers, body }: PendingRequest, signal: AbortSignal): BunRequest {
  const own = { 'user-agent': 'hi', 'accept-encoding': 'identity' };
  return {
    method,
    headers: { ...own, ...headers },
    body,
    signal,
    redirect: 'manual',
    decompress: false,
    timeout: false,
  };
}

/**
 * Calls `stop` with the reason when the caller aborts or the server is silent too long. Returns a function that ends
 * the watch. A long request gets another second for every 64 KiB.
 */
function watch({ signal, url, firstTimeout, body }: PendingRequest, stop: (reason: Error) => void): () => void {
  const onAbort = () => stop(aborted());
  const timer = setTimeout(() => stop(idleError(url, firstTimeout)), firstTimeout + (body?.length ?? 0) / 64);
  signal?.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
}

/** The response in the form of `node:http`. */
function asIncoming(response: Response, controller: AbortController) {
  const headers: Record<string, string> = {};
  const headersDistinct: Record<string, string[]> = {};
  for (const [name, value] of response.headers) {
    headers[name] = value;
    headersDistinct[name] = [...(headersDistinct[name] ?? []), value];
  }
  return Object.assign(new FetchedBody(response, controller), {
    statusCode: response.status,
    headers,
    headersDistinct,
  });
}
