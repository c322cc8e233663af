import { oversizedError } from './network-error.js';
import { PlainHeaders } from './plain-headers.js';
import { PlainStream } from './plain-stream.js';

/**
 * Puts plain classes in place of the global ones that SDKs make headers with and look for in bodies: the first use of Node's own loads all of its fetch,
 * which takes longer than everything else a request needs here. They are assigned: from Node 22 on, to define a property loads what was there.
 */
export function usePlainGlobals(): void {
  Object.assign(globalThis, {
    Headers: PlainHeaders,
    Response: PlainResponse,
    ReadableStream: PlainStream,
    FormData: class FormData {},
  });
}

/** The most that is read of a body as a whole, in bytes: it is in memory several times then. */
const MAX_WHOLE = 16 * 1024 * 1024;

/** What the SDKs read of a response: status, headers and body, whole or as it comes. Google's makes one of each event's text, which is read as it is. */
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

  /** The same object under the type that the SDKs know; they use nothing that is not here. */
  asResponse(): Response {
    return this as unknown as Response;
  }
}
