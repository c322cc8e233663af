import {
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type PriorDiscovery,
  Client as SdkClient,
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { quietConsole } from '../../http/sdk-console.js';
import type { ServerLogin } from '../auth/session-login.js';
import { withLogin } from '../auth/transport-adapter.js';
import { nodeFetch } from '../base/node-fetch.js';
import { AdaptedClient, type AskUser } from './adapted-client.js';
import type { Client } from './client.js';
import { type ProcessStart, ProcessTransport } from './process-transport.js';
import { withResultType } from './result-type.js';

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
export interface ConnectOptions {
  readonly destination: Destination;
  /** The version of hi, sent to the server. */
  readonly version: string;
  /** What an earlier connection learned; null for nothing. */
  readonly prior: JsonObject | null;
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Asks the user a server's question; null if nobody can be asked. */
  readonly ask: AskUser | null;
}

/** How long to probe a server for the newer protocol before using the older one, in milliseconds. */
const PROBE_TIMEOUT = 3000;

/**
 * Results are not validated: the model reads them whatever the schema promised, and a schema that cannot be compiled, or refers elsewhere, must not stop
 * a call.
 */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (data) => ({ valid: true, data: data as Value, errorMessage: undefined });
  },
};

/** Connects to a server, with the newer protocol if it supports that. The only place that knows the SDK. */
export async function connect(options: ConnectOptions): Promise<Client> {
  quietConsole();
  try {
    return await attempt(options, options.prior);
  } catch (thrown) {
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
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(PROBE_TIMEOUT, timeout) } },
      jsonSchemaValidator: UNCHECKED,
      capabilities: { elicitation: { form: {}, url: {} } },
    },
  );
  // Before it connects: a server may ask at once.
  const adapter = new AdaptedClient(client, timeout, ask);
  const transport = await transportTo(destination);
  withResultType(transport, () => client.getProtocolEra() === 'modern');
  await client.connect(transport, { timeout, signal, ...(isPrior(prior) && { prior }) });
  return adapter;
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
