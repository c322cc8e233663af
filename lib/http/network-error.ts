import { HiError } from '../errors.js';
import type { PendingRequest } from './pending-request.js';

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
  return new HiError('malformed', `'${host}' sent more than ${most / 1024 / 1024} MiB in one response.`, {
    hint: 'The part received is kept. Check api_base: the server may be faulty.',
  });
}

/** Turns Node's error for a failed connection into a `HiError` that names the host or the proxy. Abort errors and `HiError`s are returned unchanged. */
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
  if (/CERT|SIGNATURE/.test(code)) {
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
