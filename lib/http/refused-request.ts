/** A response with an error status. Our `fetch` throws it, so that it is the same for all vendors, whatever their SDKs do with it. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    // OpenAI's SDK replaces an error that mentions a timeout, so the message contains neither the body nor the status text.
    super(`HTTP ${status}`);
    this.name = 'RefusedRequest';
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
