import {
  discoverAuthorizationServerMetadata,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '../../chat/json.js';
import { HiError, isAbort } from '../../errors.js';
import { harmlessLine } from '../base/harmless-text.js';
import { nodeFetch } from '../base/node-fetch.js';
import { isPrivate, mayLead, needsConsent, type StoredLogin, type StoredTokens } from './login-file.js';

/** Errors that mean that the login has ended. */
const OVER: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];

/**
 * New tokens for a login; null if the authorization server no longer issues any. Throws a `HiError` that names no
 * secret.
 */
export async function renewedTokens(
  login: StoredLogin,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<StoredTokens | null> {
  const { url, authorization_server, resource, client, tokens } = login;
  const fetchFn = authFetch(url, environment);
  try {
    const metadata = await discoverAuthorizationServerMetadata(authorization_server, { fetchFn });
    const given = await refreshAuthorization(authorization_server, {
      clientInformation: asClient(client),
      refreshToken: tokens?.refresh_token ?? '',
      fetchFn,
      ...(metadata !== undefined && { metadata }),
      ...(resource !== null && { resource }),
    });
    return storedTokens({ scope: tokens?.scope, ...given });
  } catch (thrown) {
    if (thrown instanceof OAuthError && OVER.includes(thrown.code)) return null;
    throw withoutSecrets(thrown, secretsOf(login), 'The login cannot be renewed');
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A token, with its kind as in RFC 7009. */
interface Token {
  readonly kind: 'refresh_token' | 'access_token';
  readonly value: string;
}

/**
 * Revokes the tokens of a login (RFC 7009), if its authorization server has an endpoint for it. Throws a `HiError` that
 * names no secret.
 */
export async function revokeTokens(login: StoredLogin, environment: Environment, stop: AbortSignal): Promise<void> {
  const { url, authorization_server } = login;
  const fetchFn = authFetch(url, environment, stop);
  try {
    const found: unknown = await discoverAuthorizationServerMetadata(authorization_server, { fetchFn });
    const metadata: JsonObject = isJsonObject(found) ? found : {};
    const endpoint = metadata.revocation_endpoint;
    if (typeof endpoint !== 'string') return;
    if (!isPrivate(endpoint)) throw new HiError('network', `Not sending a token to '${endpoint}', which is not https.`);
    for (const token of tokensOf(login)) await revoke(token, endpoint, login, metadata, fetchFn);
  } catch (thrown) {
    throw withoutSecrets(thrown, secretsOf(login), 'The authorization server failed');
  }
}

/** The refresh token first: many servers revoke the access tokens with it. */
function tokensOf({ tokens }: StoredLogin): readonly Token[] {
  const { access_token, refresh_token } = tokens ?? {};
  return [
    ...(refresh_token === undefined ? [] : [{ kind: 'refresh_token', value: refresh_token } as const]),
    ...(access_token === undefined ? [] : [{ kind: 'access_token', value: access_token } as const]),
  ];
}

async function revoke(
  { kind, value }: Token,
  endpoint: string,
  { client, tokens }: StoredLogin,
  metadata: JsonObject,
  fetchFn: ReturnType<typeof authFetch>,
): Promise<void> {
  const { authorization, params } = shownClient(client, metadata);
  const response = await fetchFn(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...authorization },
    body: new URLSearchParams({ token: value, token_type_hint: kind, ...params }),
  });
  if (response.ok) return;
  const error = parseObject(await response.text())?.error;
  // A server may not revoke access tokens separately: they end with the refresh token.
  if (error === 'unsupported_token_type' && kind === 'access_token' && tokens?.refresh_token !== undefined) return;
  throw new Error(typeof error === 'string' && error !== '' ? error : `HTTP ${response.status}`);
}

/** How hi authenticates itself. */
function shownClient(stored: StoredLogin['client'], metadata: JsonObject) {
  const client = asClient(stored);
  const { client_id, client_secret } = client;
  const { revocation_endpoint_auth_methods_supported: own, token_endpoint_auth_methods_supported: usual } = metadata;
  const method = selectClientAuthMethod(client, textsIn(own ?? usual));
  if (client_secret === undefined || method === 'none') return { params: { client_id } };
  if (method === 'client_secret_post') return { params: { client_id, client_secret } };
  const credentials = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
  return { authorization: { authorization: `Basic ${credentials}` }, params: {} };
}

const textsIn = (list: JsonValue | undefined): string[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];

/** How long one request may take, in milliseconds, and how much of an answer is read, in bytes. */
const TIMEOUT = 30_000;
const LONGEST_ANSWER = 1024 * 1024;

/** Statuses whose answer has no body. */
const EMPTY = [204, 205, 304];

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Asks the user whether a login may go to a private address. */
export type AgreesTo = (address: URL) => Promise<boolean>;

/** Throws a `HiError` where the user has to agree to an address and does not. */
export async function requireConsent(server: string, url: URL, agreesTo: AgreesTo): Promise<void> {
  if (!(await needsConsent(server, url)) || (await agreesTo(url))) return;
  throw new HiError('network', `The server asks for a login at a private address: '${url.href}'.`, {
    hint: "If you know it, run 'hi mcp login' on a terminal and agree to it.",
  });
}

/**
 * `fetch` for logins: refuses addresses that the server may not name, and limits the time and the size of the answer.
 * The SDK reads errors only from a complete `Response`.
 */
export function authFetch(
  server: string,
  environment: Readonly<Record<string, string | undefined>>,
  stop?: AbortSignal,
  agreesTo: AgreesTo = async () => false,
): Fetch {
  const fetch = nodeFetch(environment);
  return async (input, init = {}) => {
    const url = new URL(input);
    if (!mayLead(server, url))
      throw new HiError('network', `The server asks for a login at an address that is not allowed: '${url.href}'.`);
    await requireConsent(server, url, agreesTo);
    const limit = AbortSignal.timeout(TIMEOUT);
    const signal = AbortSignal.any([limit, ...(stop ? [stop] : []), ...(init.signal ? [init.signal] : [])]);
    const response = await fetch(url, { ...init, signal });
    const { status, statusText, headers } = response;
    const text = await textOf(response, url);
    return new Response(EMPTY.includes(status) ? null : text, { status, statusText, headers });
  };
}

async function textOf({ body }: Response, url: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (body !== null)
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LONGEST_ANSWER)
        throw new HiError('network', `The answer from '${url.origin}' to the login is longer than 1 MB.`);
    }
  return Buffer.concat(chunks).toString();
}

/** hi's client registration at an authorization server. */
interface ClientInformation {
  readonly client_id: string;
  readonly client_secret?: string;
  /** The authorization server it belongs to. */
  readonly issuer?: string;
}

/** The stored client, with all stored fields. */
export function asClient(stored: JsonObject): ClientInformation {
  const { client_id, client_secret, issuer } = stored;
  return {
    ...stored,
    client_id: String(client_id),
    ...(typeof client_secret === 'string' && { client_secret }),
    ...(typeof issuer === 'string' && { issuer }),
  };
}

/** The secrets in a login. */
export const secretsOf = ({ client, tokens }: StoredLogin): readonly string[] =>
  [client.client_secret, tokens?.access_token, tokens?.refresh_token].filter(
    (secret): secret is string => typeof secret === 'string' && secret !== '',
  );

/** How much of an authorization server's message is quoted. */
const LONGEST_QUOTE = 300;

/**
 * An error of a login, safe to show. The authorization server's message may repeat what it was sent, and is stored in
 * the history: secrets and raw answers are removed from it. The cause is left out for the same reason.
 */
export function withoutSecrets(thrown: unknown, secrets: readonly string[], begin: string): unknown {
  if (thrown instanceof HiError || isAbort(thrown)) return thrown;
  const [said = ''] = reasonOf(thrown).split(/Raw body:|Invalid OAuth error response/);
  const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), said);
  const quoted = harmlessLine(shown, LONGEST_QUOTE);
  return new HiError('network', `${begin}: ${quoted === '' ? 'its answer cannot be read.' : quoted}`);
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code: unknown = Reflect.get(thrown, 'code');
  const isOAuth = thrown.name === 'OAuthError' && typeof code === 'string';
  return isOAuth && !thrown.message.includes(code) ? `${code}: ${thrown.message}` : thrown.message;
}

/**
 * How long before they expire tokens are renewed, in milliseconds. Short-lived ones are renewed in the last tenth of
 * their life.
 */
const EARLY = 60_000;

/** Tokens as issued by an authorization server. */
interface GivenTokens {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
  /** In seconds. */
  readonly expires_in?: number | undefined;
}

/** Converts tokens to their stored form. */
export function storedTokens({ access_token, refresh_token, scope, expires_in }: GivenTokens): StoredTokens {
  const life = (expires_in ?? 0) * 1000;
  return {
    access_token,
    ...(refresh_token !== undefined && { refresh_token }),
    ...(scope !== undefined && { scope }),
    ...(life > 0 && { renew_at: Date.now() + life - Math.min(EARLY, life / 10) }),
  };
}
