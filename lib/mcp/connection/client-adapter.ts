import {
  type AuthProvider,
  InsufficientScopeError,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type PriorDiscovery,
  ProtocolError,
  Client as SdkClient,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { quietConsole } from '../../http/sdk-console.js';
import { monotonic } from '../../waits.js';
import type { ServerLogin } from '../auth/session-login.js';
import { nodeFetch } from '../base/node-fetch.js';
import { AdaptedClient, type AskUser } from './adapted-client.js';
import { type Client, startedTooLate } from './client.js';
import { type ProcessStart, ProcessTransport } from './process-transport.js';

/** Where a server is, with every value resolved. */
export type Destination =
  | ({ readonly kind: 'process' } & ProcessStart)
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly isOld: boolean;
      /** Of the process: proxies are read from it. */
      readonly environment: Readonly<Record<string, string | undefined>>;
      /** The login to use; null if the headers contain it. */
      readonly login: ServerLogin | null;
    };

/** The options of a connection. */
interface ConnectOptions {
  readonly destination: Destination;
  /** The version of hi, sent to the server. */
  readonly version: string;
  /** Facts learned by an earlier connection; null for none. */
  readonly prior: JsonObject | null;
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Asks the user a server's question; null if nobody can be asked. */
  readonly ask: AskUser | null;
}

/**
 * What is left of the time to start for the older protocol, where a server does not answer the question for the newer
 * one: a share, and milliseconds.
 */
const OLDER_SHARE = 0.25;
const OLDER_TIMEOUT = 3000;

/** A server that is slow to start may take most of the time for its first answer. */
const probeTimeout = (timeout: number): number => Math.ceil(timeout - Math.min(OLDER_TIMEOUT, timeout * OLDER_SHARE));

/**
 * Results are not validated: the model reads them whatever the schema promised, and a schema that cannot be compiled,
 * or refers elsewhere, must not stop a call.
 */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (data) => ({ valid: true, data: data as Value, errorMessage: undefined });
  },
};

/** Connects to a server, with the newer protocol if it supports that. The only place that knows the SDK. */
export async function connect(options: ConnectOptions): Promise<Client> {
  quietConsole();
  const begun = monotonic();
  try {
    return await attempt(options, options.prior);
  } catch (thrown) {
    // Asked for the older protocol, because the newer one took its time, it knows only the newer.
    if (ProtocolError.isInstance(thrown) && monotonic() - begun >= probeTimeout(options.timeout))
      throw startedTooLate(options.timeout, thrown);
    // A server that exits on the first unknown request speaks the older protocol.
    if (options.signal.aborted || options.prior?.kind === 'legacy' || !isNegotiation(thrown)) throw thrown;
    return await attempt(options, { kind: 'legacy' });
  }
}

async function attempt(options: ConnectOptions, prior: JsonObject | null): Promise<Client> {
  const { destination, version, timeout, signal, ask } = options;
  const client = new SdkClient(
    { name: 'hi', version },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeTimeout(timeout) } },
      jsonSchemaValidator: UNCHECKED,
      capabilities: { elicitation: { form: {}, url: {} } },
    },
  );
  // Before it connects: a server may ask at once.
  const adapter = new AdaptedClient(client, timeout, ask);
  const transport = await transportTo(destination);
  if (destination.kind === 'http') client.onerror = (error) => void adapter.failed(error, () => isThere(destination));
  withResultType(transport, () => client.getProtocolEra() === 'modern');
  await client.connect(transport, { timeout, signal, ...(isPrior(prior) && { prior }) });
  return adapter;
}

/** How long a server may take to show that it is there, in milliseconds. */
const THERE_TIMEOUT = 2000;

/** Whether something answers at the address, whatever it says. */
async function isThere({ url, environment }: Extract<Destination, { kind: 'http' }>): Promise<boolean> {
  try {
    await nodeFetch(environment)(url, { method: 'HEAD', signal: AbortSignal.timeout(THERE_TIMEOUT) });
    return true;
  } catch {
    return false;
  }
}

/** Whether a stored value is the result of an earlier connection. */
function isPrior(stored: unknown): stored is PriorDiscovery {
  if (!isJsonObject(stored)) return false;
  return stored.kind === 'legacy' || (stored.kind === 'modern' && isJsonObject(stored.discover));
}

const isNegotiation = (thrown: unknown): boolean =>
  SdkError.isInstance(thrown) && thrown.code === SdkErrorCode.EraNegotiationFailed;

async function transportTo(destination: Destination): Promise<Transport> {
  if (destination.kind === 'process') return new ProcessTransport(destination);
  const { headers, environment, login } = destination;
  const options = { requestInit: { headers: { ...headers } }, fetch: nodeFetch(environment) };
  const url = new URL(destination.url);
  if (login === null)
    return destination.isOld ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options);
  return withLogin(url, destination.isOld, options, login);
}

/** The part of a transport that is needed. The type of messages is the SDK's own. */
interface Receiving<Message, Extra> {
  onmessage?: ((message: Message, extra?: Extra) => void) | undefined;
}

/**
 * Takes a result that does not say what kind it is for a complete one, as the newer form of the protocol has it; the
 * SDK refuses it. Until `isNewer` nothing is changed: the older form has no kinds.
 */
export function withResultType<Message, Extra>(transport: Receiving<Message, Extra>, isNewer: () => boolean): void {
  let take: ((message: Message, extra?: Extra) => void) | undefined;
  Object.defineProperty(transport, 'onmessage', {
    get: () => take,
    set: (next: typeof take) => {
      take = next && ((message, extra) => next(isNewer() ? complete(message) : message, extra));
    },
  });
}

function complete<Message>(message: Message): Message {
  if (!isJsonObject(message) || !isJsonObject(message.result) || 'resultType' in message.result) return message;
  return { ...message, result: { ...message.result, resultType: 'complete' } };
}

/** An HTTP transport with a login. Its errors say what the user can do. */
function withLogin(
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
