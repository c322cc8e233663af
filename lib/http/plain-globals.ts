import { oversizedError } from './network-error.js';
import { PlainHeaders } from './plain-headers.js';
import { PlainStream } from './plain-stream.js';

/**
 * Replaces the global classes that SDKs use for headers and check bodies against with plain ones. The first use of Node's own classes loads all of its `fetch`,
 * which takes longer than the rest of a request. They are assigned, because from Node 22 on, defining a property loads the original.
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
const MAX_WHOLE = 16 * 1024 * 1024;

/** The part of `Response` that the SDKs use: status, headers, and the body, whole or as a stream. Google's SDK also creates one from the text of each event. */
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
