/** An answer with an error status, thrown by our own `fetch`: so all vendors' refusals have one form, whatever their SDKs make of them. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    // OpenAI's SDK drops an error that mentions a time-out, so neither the body nor the status text may be in here.
    super(`HTTP ${status}`);
    this.name = 'RefusedRequest';
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
