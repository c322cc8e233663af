import {
  type AuthProvider,
  InsufficientScopeError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { ServerLogin } from './session-login.js';

/** An HTTP transport with a login. Its errors say what the user can do. */
export function withLogin(
  url: URL,
  isOld: boolean,
  options: Pick<StreamableHTTPClientTransportOptions, 'requestInit' | 'fetch'>,
  login: ServerLogin,
): Transport {
  const authProvider: AuthProvider = {
    token: () => login.token(),
    onUnauthorized: () => login.unauthorized(),
  };
  const transport = isOld
    ? new SSEClientTransport(url, { ...options, authProvider })
    : new StreamableHTTPClientTransport(url, { ...options, authProvider, onInsufficientScope: 'throw' });
  const send: Transport['send'] = transport.send.bind(transport);
  const start = transport.start.bind(transport);
  return Object.assign(transport, {
    start: () => explained(start(), login),
    send: (...[message, options]: Parameters<Transport['send']>) => explained(send(message, options), login),
  });
}

async function explained<Result>(sending: Promise<Result>, login: ServerLogin): Promise<Result> {
  try {
    return await sending;
  } catch (thrown) {
    throw await explanation(thrown, login);
  }
}

async function explanation(thrown: unknown, login: ServerLogin): Promise<unknown> {
  if (thrown instanceof InsufficientScopeError) return named(await login.wants(thrown.requiredScope));
  const isRefused = thrown instanceof SdkHttpError && thrown.code === SdkErrorCode.ClientHttpAuthentication;
  return isRefused || thrown instanceof UnauthorizedError ? named(login.refused()) : thrown;
}

/** After any error that it does not recognise as a login error, the SDK would try the older protocol. */
const named = (error: Error): Error => Object.defineProperty(error, 'name', { value: 'UnauthorizedError' });
