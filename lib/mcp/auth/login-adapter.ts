import { randomBytes } from 'node:crypto';
import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import { quietConsole } from '../../http/sdk-console.js';
import { mayLead, type StoredLogin } from './login-file.js';
import type { RedirectListener } from './redirect-listener.js';
import {
  type AgreesTo,
  asClient,
  authFetch,
  requireConsent,
  secretsOf,
  storedTokens,
  withoutSecrets,
} from './tokens-adapter.js';

/** A client that the user registered at the authorization server. */
interface OwnClient {
  readonly id: string;
  readonly secret: string | null;
  /** The authorization server it belongs to; null until the first login finds out. */
  readonly issuer: string | null;
}

/** The options of a login. */
interface LoginOptions {
  /** The address of the server. */
  readonly url: string;
  /** The headers of its entry. */
  readonly headers: Readonly<Record<string, string>>;
  readonly client: OwnClient | null;
  /** Scopes to request in addition to those that the server names; null for none. */
  readonly scope: string | null;
  readonly before: StoredLogin | null;
  readonly listener: RedirectListener;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Asks about a private address, once for each host. */
  readonly agreesTo: AgreesTo;
  /** Sends the user to this address. */
  show(address: URL): void;
  /** Stores what is known so far. */
  keep(login: StoredLogin): Promise<void>;
}

/** Logs in with a browser. Throws a `HiError` that names no secret. */
export async function logIn(options: LoginOptions): Promise<void> {
  quietConsole();
  const provider = new LoginProvider(options);
  try {
    await provider.run();
  } catch (thrown) {
    throw withoutSecrets(thrown, provider.secrets, 'The login failed');
  }
}

class LoginProvider implements OAuthClientProvider {
  readonly #options: LoginOptions;
  readonly #state = randomBytes(32).toString('base64url');
  readonly #fetch: ReturnType<typeof authFetch>;
  #verifier = '';
  #found: OAuthDiscoveryState | null = null;
  #client: JsonObject | null = null;
  #resource: string | null = null;

  constructor(options: LoginOptions) {
    const { url, environment, signal } = options;
    this.#options = options;
    this.#fetch = authFetch(url, environment, signal, options.agreesTo);
  }

  async run(): Promise<void> {
    const { url, listener, signal } = this.#options;
    const challenge = await this.#challenge();
    const { resourceMetadataUrl } = challenge;
    const found = await discoverOAuthServerInfo(url, {
      fetchFn: this.#fetch,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    });
    this.#found = { ...found, ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }) };
    this.#client = this.#knownClient();
    const scope = this.#scope(challenge.scope);
    const answer = listener.answerTo(this.#state);
    const wanted = { serverUrl: url, fetchFn: this.#fetch, ...(scope !== null && { scope }) };
    if ((await auth(this, wanted)) === 'AUTHORIZED') return;
    const params = await orAborted(answer, signal);
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: this, fetch: this.#fetch });
    await transport.finishAuth(params);
  }

  /** The server's answer to a request without a login. */
  async #challenge(): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
    const { url, headers } = this.#options;
    const response = await this.#fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  }

  /** The scopes that the server names, those it wanted in addition, and those of the current tokens. */
  #scope(named: string | undefined): string | null {
    const { scope, before } = this.#options;
    const granted = before?.wanted ? before.tokens?.scope : null;
    const words = [scope ?? named, granted, before?.wanted].flatMap((part) => part?.split(/\s+/) ?? []);
    const all = [...new Set(words.filter((word) => word !== ''))];
    return all.length === 0 ? null : all.join(' ');
  }

  #knownClient(): JsonObject | null {
    const { client, before, listener } = this.#options;
    const stored = before?.client ?? {};
    if (client === null) return before?.redirect === listener.url && 'client_id' in stored ? { ...stored } : null;
    if (this.clientMetadataUrl !== '') return null;
    // A client is only ever used with the first authorization server it was shown to.
    const issuer = client.issuer ?? (stored.client_id === client.id ? stored.issuer : undefined);
    if (typeof issuer === 'string') this.#requireIssuer(issuer, client.id);
    return {
      client_id: client.id,
      ...(client.secret !== null && { client_secret: client.secret }),
      ...(typeof issuer === 'string' && { issuer }),
    };
  }

  #requireIssuer(issuer: string, id: string): void {
    const found = this.#found?.authorizationServerMetadata?.issuer ?? this.#found?.authorizationServerUrl ?? '';
    const same = (one: string): string => (one.endsWith('/') ? one.slice(0, -1) : one);
    if (same(found) === same(issuer)) return;
    throw new HiError(
      'network',
      `The server names the authorization server '${found}', but the client '${id}' belongs to '${issuer}'.`,
    );
  }

  get secrets(): readonly string[] {
    const { before, client } = this.#options;
    const own = [client?.secret, this.#client?.client_secret].filter((secret) => typeof secret === 'string');
    return [...own, ...(before === null ? [] : secretsOf(before)), this.#verifier].filter((secret) => secret !== '');
  }

  get redirectUrl(): string {
    return this.#options.listener.url;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'hi',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: this.#method(),
    };
  }

  /** A program on the user's machine cannot keep a secret from the user, but some authorization servers require one. */
  #method(): string {
    const methods = this.#found?.authorizationServerMetadata?.token_endpoint_auth_methods_supported ?? [];
    if (methods.length === 0 || methods.includes('none')) return 'none';
    return methods.find((method) => ['client_secret_basic', 'client_secret_post'].includes(method)) ?? 'none';
  }

  /** A client whose id is the address of its metadata document needs no registration; empty for any other. */
  get clientMetadataUrl(): string {
    const { client } = this.#options;
    return client?.secret === null && /^https:\/\//.test(client.id) ? client.id : '';
  }

  state(): string {
    return this.#state;
  }

  clientInformation() {
    return this.#client === null ? undefined : asClient(this.#client);
  }

  /** It is stored with the tokens: until then, those of another authorization server may be stored. */
  saveClientInformation(client: object): void {
    this.#client = { ...(isJsonObject(client) ? client : {}) };
  }

  /** None: each login starts fresh. */
  tokens(): undefined {
    return undefined;
  }

  async saveTokens(tokens: OAuthTokens): Promise<void> {
    const { url, listener, keep } = this.#options;
    await keep({
      url,
      authorization_server: this.#found?.authorizationServerUrl ?? url,
      resource: this.#resource,
      client: this.#client ?? {},
      redirect: listener.url,
      tokens: storedTokens(tokens),
      wanted: null,
    });
  }

  async redirectToAuthorization(address: URL): Promise<void> {
    if (!mayLead(this.#options.url, address))
      throw new HiError('network', `The address of the login page cannot be opened: '${address.href}'.`);
    await requireConsent(this.#options.url, address, this.#options.agreesTo);
    this.#options.show(address);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveResourceUrl(resource: string | URL): void {
    this.#resource = String(resource);
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#found ?? undefined;
  }

  saveDiscoveryState(found: OAuthDiscoveryState): void {
    this.#found = found;
  }
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new HiError('interrupted', 'The login was cancelled.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
