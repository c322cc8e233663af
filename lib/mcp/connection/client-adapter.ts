import {
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type PriorDiscovery,
  type Progress,
  Client as SdkClient,
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  type StandardSchemaV1,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { quietConsole } from '../../http/sdk-console.js';
import type { Listing } from '../definitions/read-offer.js';
import type { CallLimits, Client } from './client.js';
import { nodeFetch } from './node-fetch.js';
import { type ProcessStart, ProcessTransport } from './process-transport.js';

/** Where a server is, every value looked up. */
export type Destination =
  | ({ readonly kind: 'process' } & ProcessStart)
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly isOld: boolean;
      /** Of the process: proxies are read from it. */
      readonly environment: Readonly<Record<string, string | undefined>>;
    };

/** What a connection is made with. */
export interface ConnectOptions {
  readonly destination: Destination;
  /** The version of hi, which the server is told. */
  readonly version: string;
  /** What an earlier connection found out; null for nothing. */
  readonly prior: JsonObject | null;
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** The longest that a call may take in all, in silences. */
const MOST_SILENCES = 10;

/** How long a server is asked for its version by the newer form before the older one is taken, in milliseconds. */
const PROBE_TIMEOUT = 3000;

/**
 * What a tool gives back is for the model to read, whatever its schema promised; and a schema that cannot be compiled, or leads elsewhere, must not stop
 * a call.
 */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (data) => ({ valid: true, data: data as Value, errorMessage: undefined });
  },
};

/** So many pages of a list are read. */
const MOST_PAGES = 64;

/** Takes every result as it is. */
const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'hi', validate: (value) => ({ value }) },
};

/** Connects to a server, by the newer form of the protocol where it speaks that. The only place that knows the SDK. */
export async function connect(options: ConnectOptions): Promise<Client> {
  quietConsole();
  try {
    return await attempt(options, options.prior);
  } catch (thrown) {
    // A server that exits at the first unknown question is one of the older form.
    if (options.signal.aborted || options.prior?.kind === 'legacy' || !isNegotiation(thrown)) throw thrown;
    return await attempt(options, { kind: 'legacy' });
  }
}

async function attempt(options: ConnectOptions, prior: JsonObject | null): Promise<Client> {
  const { destination, version, timeout, signal } = options;
  const client = new SdkClient(
    { name: 'hi', version },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(PROBE_TIMEOUT, timeout) } },
      jsonSchemaValidator: UNCHECKED,
    },
  );
  await client.connect(transportTo(destination), { timeout, signal, ...(isPrior(prior) && { prior }) });
  return new SdkAdapter(client, timeout);
}

class SdkAdapter implements Client {
  readonly #client: SdkClient;
  readonly #timeout: number;

  constructor(client: SdkClient, timeout: number) {
    this.#client = client;
    this.#timeout = timeout;
  }

  async list(): Promise<Listing> {
    const limit = { timeout: this.#timeout };
    const offers = this.#client.getServerCapabilities() ?? {};
    const [tools, prompts, resources] = await Promise.all([
      offers.tools === undefined ? { tools: [] } : this.#tools(limit.timeout),
      offers.prompts === undefined
        ? { prompts: [] }
        : this.#client.listPrompts({}, limit).catch(() => ({ prompts: [] })),
      offers.resources === undefined
        ? { resources: [] }
        : this.#client.listResources({}, limit).catch(() => ({ resources: [] })),
    ]);
    const lifetime: unknown = Reflect.get(tools, 'ttlMs');
    return {
      tools: tools.tools,
      prompts: prompts.prompts,
      resources: resources.resources,
      instructions: this.#client.getInstructions(),
      prior: this.#prior,
      expires: typeof lifetime === 'number' && lifetime > 0 ? Date.now() + lifetime : null,
    };
  }

  /** The SDK refuses a list for one tool that is not well-formed: then every page is taken as it is. */
  async #tools(timeout: number): Promise<{ readonly tools: readonly unknown[] }> {
    try {
      return await this.#client.listTools({}, { timeout, cacheMode: 'refresh' });
    } catch (thrown) {
      if (!SdkError.isInstance(thrown) || thrown.code !== SdkErrorCode.InvalidResult) throw thrown;
    }
    let tools: readonly unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const given = await this.#client.request({ method: 'tools/list', params }, ANYTHING, { timeout });
      const result: JsonObject = isJsonObject(given) ? given : {};
      if (Array.isArray(result.tools)) tools = tools.concat(result.tools);
      if (typeof result.nextCursor !== 'string' || result.nextCursor === cursor) break;
      cursor = result.nextCursor;
    }
    return { tools };
  }

  async call(tool: string, args: JsonObject, { silence, signal, progress }: CallLimits): Promise<unknown> {
    const params = { name: tool, arguments: { ...args } };
    const options = {
      signal,
      timeout: silence,
      maxTotalTimeout: MOST_SILENCES * silence,
      resetTimeoutOnProgress: true,
      // Without it no server is asked to tell of its progress.
      onprogress: (told: Progress) => progress(progressText(told)),
    };
    // Only the newer form puts arguments into headers, which this does; it refuses a result for one part of a kind that it does not know.
    if (this.#client.getProtocolEra() === 'modern') return await this.#client.callTool(params, options);
    return await this.#client.request({ method: 'tools/call', params }, ANYTHING, options);
  }

  onClose(gone: () => void): void {
    this.#client.onclose = gone;
  }

  onChange(changed: () => void): void {
    // Servers send these whether they declared it or not.
    for (const list of ['tools', 'prompts', 'resources'] as const)
      this.#client.setNotificationHandler(`notifications/${list}/list_changed`, changed);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  get #prior(): JsonObject {
    const discover: unknown = this.#client.getDiscoverResult();
    return isJsonObject(discover) ? { kind: 'modern', discover } : { kind: 'legacy' };
  }
}

function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined || total <= 0 ? String(progress) : `${progress}/${total}`;
  return message === undefined ? share : `${share} ${message}`;
}

/** Whether a stored value is what an earlier connection left. */
function isPrior(stored: unknown): stored is PriorDiscovery {
  if (!isJsonObject(stored)) return false;
  return stored.kind === 'legacy' || (stored.kind === 'modern' && isJsonObject(stored.discover));
}

const isNegotiation = (thrown: unknown): boolean =>
  SdkError.isInstance(thrown) && thrown.code === SdkErrorCode.EraNegotiationFailed;

function transportTo(destination: Destination): Transport {
  if (destination.kind === 'process') return new ProcessTransport(destination);
  const { headers, environment } = destination;
  const options = { requestInit: { headers: { ...headers } }, fetch: nodeFetch(environment) };
  const url = new URL(destination.url);
  return destination.isOld ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options);
}
