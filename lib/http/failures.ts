import type { IncomingMessage } from 'node:http';
import { type JsonObject, jsonText } from '../chat/json.js';
import { sizeText } from '../chat/text.js';
import { HiError } from '../errors.js';

/** The error for a request that its caller cancelled. */
export function aborted(): Error {
  const error = new Error('The request was aborted.');
  error.name = 'AbortError';
  return error;
}

/** The error for a server that is connected but silent. A retry would wait just as long, so there is none. */
export function idleError(url: URL, idleTimeout: number): HiError {
  // OpenAI's SDK replaces an error that says "timed out" with its own, so the text avoids these words.
  return new HiError('network', `'${url.host}' sent nothing for ${Math.max(1, Math.round(idleTimeout / 1000))} s.`, {
    hint: 'The server may be overloaded or still loading the model. Try again (/retry in hi chat).',
  });
}

/** The error for a response that is endless or too large. */
export function oversizedError({ host }: URL, most: number): HiError {
  return new HiError('malformed', `'${host}' sent more than ${sizeText(most)} in one response.`, {
    hint: 'The part received is kept. Check api_base: the server may be faulty.',
  });
}

/**
 * Turns Node's error for a failed connection into a `HiError` that names the host or the proxy. Abort errors and
 * `HiError`s are returned unchanged.
 */
export function asNetworkError(
  thrown: unknown,
  { url, proxy, startHint }: Pick<PendingRequest, 'url' | 'proxy' | 'startHint'>,
): unknown {
  if (thrown instanceof HiError) return thrown;
  if (typeof thrown !== 'object' || thrown === null) return thrown;
  if ('name' in thrown && thrown.name === 'AbortError') return thrown;
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const { what, hint, retryable } = describe(code, url.host, proxy, startHint);
  // Its message says only "timed out" (see above).
  const cause = code === 'ETIMEDOUT' ? {} : { cause: thrown };
  return new HiError('network', what, { hint, retryable, ...cause });
}

/** The error codes of connections that were never made. */
const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
]);

/** Whether nothing of a request was sent: there was no connection, or it was not trusted. */
export function isUnsent({ cause }: HiError): boolean {
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return false;
  const code = String(cause.code);
  return UNREACHED.has(code) || UNTRUSTED.test(code);
}

/** The error codes of certificates. */
const UNTRUSTED = /CERT|SIGNATURE/;

interface Description {
  readonly what: string;
  readonly hint: string;
  readonly retryable: boolean;
}

function describe(code: string, host: string, proxy: URL | null, startHint: string | null): Description {
  if (proxy !== null && UNREACHED.has(code)) {
    return {
      what: `The proxy '${proxy.host}' cannot be reached.`,
      hint: 'Correct HTTPS_PROXY or HTTP_PROXY, or exempt the host with NO_PROXY.',
      retryable: false,
    };
  }
  if (code === 'ECONNREFUSED') {
    return {
      what: `Nothing is listening at '${host}'.`,
      hint: startHint ?? 'Start the server there, or correct api_base.',
      retryable: false,
    };
  }
  if (code === 'ENOTFOUND') {
    return {
      what: `Host not found: '${host}'.`,
      hint: 'Check the network connection, and api_base if it is set.',
      retryable: false,
    };
  }
  if (code === 'EPROTO' || /^(?:ERR_SSL|HPE_|InvalidHTTP)/.test(code)) {
    return {
      what: `'${host}' does not speak the expected protocol (${code}).`,
      hint: 'Check http:// or https:// and the port in api_base.',
      retryable: false,
    };
  }
  if (UNTRUSTED.test(code)) {
    return {
      what: `The certificate of '${host}' is not trusted (${code}).`,
      hint: 'If your own proxy signs it, add its certificate with NODE_EXTRA_CA_CERTS.',
      retryable: false,
    };
  }
  if (UNREACHED.has(code)) {
    return {
      what: `'${host}' cannot be reached.`,
      hint: 'Check the network connection, and HTTPS_PROXY if you need one.',
      retryable: true,
    };
  }
  return {
    what: `The connection to '${host}' was lost.`,
    hint: 'Try again (/retry in hi chat).',
    retryable: true,
  };
}

/** A request that is waiting for its response, as plain values. */
export interface PendingRequest {
  readonly url: URL;
  readonly proxy: URL | null;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  readonly idleTimeout: number;
  /** The same until the headers arrive, and until the first data of the body arrives. */
  readonly firstTimeout: number;
  readonly startHint: string | null;
}

/** An error inside a stream, which the SDK would treat as data or reduce to its message. */
export class StreamError extends Error {
  readonly error: JsonObject;

  constructor(error: JsonObject) {
    super(typeof error.message === 'string' ? error.message : jsonText(error));
    this.name = 'StreamError';
    this.error = error;
  }
}

type Incoming = Pick<IncomingMessage, 'headers' | 'destroy'>;

/** The error for a web page at an address that should be an API. */
export class WebPage extends HiError {}

/** Throws a `WebPage` if the response is a web page. */
export function refusePage({ url }: PendingRequest, incoming: Incoming): void {
  if (!incoming.headers['content-type']?.startsWith('text/html')) return;
  incoming.destroy();
  throw webPage(url);
}

/** The error for a web page: api_base lacks its path, or the network requires a login. */
export function webPage(url: URL): WebPage {
  return new WebPage('request', `'${url.origin}${url.pathname}' returned a web page.`, {
    hint: 'Check api_base (for a compatible server it usually ends in /v1), and whether the network requires a login.',
  });
}

/** Throws for a redirect, and for a proxy that requires a login. */
export function refuseRedirect(
  { url, proxy }: PendingRequest,
  status: number,
  incoming: Incoming,
  apiKey: string | null,
): void {
  if (proxy !== null && status === 407) {
    incoming.destroy();
    throw new HiError('network', `The proxy '${proxy.host}' requires a name and password.`, {
      hint: 'Put them in the address: HTTPS_PROXY=http://name:password@host:port.',
    });
  }
  const { location } = incoming.headers;
  if (status < 300 || status >= 400 || location === undefined) return;
  incoming.destroy();
  throw new HiError('request', `'${url.origin}' redirects to '${mask(absolute(location, url), apiKey)}'.`, {
    hint: 'Set api_base to the new address.',
  });
}

function absolute(location: string, base: URL): string {
  return URL.canParse(location, base.href) ? shownAddress(new URL(location, base).href) : location;
}

/**
 * The text without the key, which servers repeat in the message that refuses it. A key of a few letters is a
 * placeholder, not a secret.
 */
export function mask(text: string, key: string | null): string {
  if (key === null || key.length < 8) return text;
  const forms = [
    key,
    encodeURIComponent(key),
    Buffer.from(key)
      .toString('base64')
      .replace(/={1,2}$/, '')
      .slice(0, -1),
  ];
  return forms.reduce((shown, form) => shown.replaceAll(form, '***'), text);
}

/** The address without its user name and password and the values of its query. */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const isSecret = url.username !== '' || url.password !== '' || url.search !== '';
  if (!isSecret) return address;
  if (url.username !== '' || url.password !== '') {
    url.username = '***';
    url.password = '';
  }
  for (const name of [...url.searchParams.keys()]) url.searchParams.set(name, '***');
  return url.href;
}
