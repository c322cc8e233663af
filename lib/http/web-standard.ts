import { oversizedError } from './failures.js';

/**
 * Replaces the global classes that SDKs use for headers and check bodies against with plain ones. The first use of
 * Node's own classes loads all of its `fetch`, which takes longer than the rest of a request. They are assigned,
 * because from Node 22 on, defining a property loads the original.
 */
export function usePlainGlobals(): void {
  Object.assign(globalThis, {
    Headers: PlainHeaders,
    Response: PlainResponse,
    ReadableStream: PlainStream,
    FormData: class FormData {},
  });
}

/** The largest body that is read as a whole, in bytes. It is then in memory several times. */
const MAX_WHOLE = 16_000_000;

/**
 * The part of `Response` that the SDKs use: status, headers, and the body, whole or as a stream. Google's SDK also
 * creates one from the text of each event.
 */
export class PlainResponse {
  readonly body: ReadableStream<Uint8Array> | null;
  readonly #text: string | null;
  readonly status: number;
  readonly statusText = '';
  readonly headers: Headers;
  readonly url: string;

  constructor(
    body: ReadableStream<Uint8Array> | string | null,
    init: { readonly status: number; readonly headers: Headers; readonly url?: string },
  ) {
    this.#text = typeof body === 'string' ? body : null;
    this.body = typeof body === 'string' ? null : body;
    this.status = init.status;
    this.headers = init.headers;
    this.url = init.url ?? '';
  }

  /** The same response with another body. */
  static rewritten({ status, headers, url }: Response, body: PlainStream): Response {
    return new PlainResponse(body.asReadableStream(), { status, headers, url }).asResponse();
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  async text(): Promise<string> {
    return this.#text ?? new TextDecoder().decode(await this.arrayBuffer());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.body ?? []) {
      size += chunk.length;
      if (size > MAX_WHOLE) throw oversizedError(new URL(this.url), MAX_WHOLE);
      chunks.push(chunk);
    }
    return new Uint8Array(Buffer.concat(chunks)).buffer;
  }

  /** The same object, typed for the SDKs, which use no other members. */
  asResponse(): Response {
    return this as unknown as Response;
  }
}

/** The types that headers can be created from (WHATWG Fetch, HeadersInit). */
type Init = Iterable<readonly [string, string]> | Readonly<Record<string, string>> | null | undefined;

/**
 * The part of the Fetch standard's `Headers` that the SDKs use: names ignore case, and several values of one name are
 * joined with commas. Unlike the standard, fields keep the order in which they were added. `node:http` checks the
 * values when it sends them.
 */
export class PlainHeaders {
  readonly #fields = new Map<string, string>();

  constructor(init?: Init) {
    for (const [name, value] of pairs(init ?? {})) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#fields.set(name.toLowerCase(), String(value));
  }

  get(name: string): string | null {
    return this.#fields.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#fields.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#fields.delete(name.toLowerCase());
  }

  forEach(callback: (value: string, name: string, headers: PlainHeaders) => void): void {
    for (const [name, value] of this.#fields) callback(value, name, this);
  }

  getSetCookie(): string[] {
    const cookies = this.get('set-cookie');
    return cookies === null ? [] : [cookies];
  }

  keys(): MapIterator<string> {
    return this.#fields.keys();
  }

  values(): MapIterator<string> {
    return this.#fields.values();
  }

  entries(): MapIterator<[string, string]> {
    return this.#fields.entries();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }
}

function pairs(init: NonNullable<Init>): Iterable<readonly [string, string]> {
  return isIterable(init) ? init : Object.entries(init);
}

function isIterable(init: NonNullable<Init>): init is Iterable<readonly [string, string]> {
  return Symbol.iterator in init;
}

/** The source of the bytes of a body. */
interface StreamSource {
  /** Resolves to the next bytes, null at the end. Called only when a reader is waiting, one call at a time. */
  next(): Promise<Uint8Array | null>;
  /** Called when the rest is not needed. */
  stop(): void;
}

type Step = { readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value: undefined };

const OVER: Step = { done: true, value: undefined };

/**
 * The part of `ReadableStream` (WHATWG Streams) that the SDKs use: a reader, iteration and cancelling. Node's own takes
 * longer to load than a request takes, and needs several promises for each chunk.
 */
export class PlainStream {
  readonly #source: StreamSource;
  #isOver = false;

  constructor(source: StreamSource) {
    this.#source = source;
  }

  getReader() {
    return {
      read: () => this.#read(),
      releaseLock: () => {},
      cancel: () => this.cancel(),
    };
  }

  [Symbol.asyncIterator]() {
    return {
      next: () => this.#read(),
      return: async () => {
        await this.cancel();
        return OVER;
      },
    };
  }

  async cancel(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source.stop();
  }

  /** The same object, typed for the SDKs. */
  asReadableStream(): ReadableStream<Uint8Array> {
    return this as unknown as ReadableStream<Uint8Array>;
  }

  async #read(): Promise<Step> {
    if (this.#isOver) return OVER;
    try {
      const value = await this.#source.next();
      if (value !== null) return { done: false, value };
      this.#isOver = true;
      return OVER;
    } catch (thrown) {
      this.#isOver = true;
      throw thrown;
    }
  }
}
