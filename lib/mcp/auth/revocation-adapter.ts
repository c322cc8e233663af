import { discoverAuthorizationServerMetadata, selectClientAuthMethod } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import { authFetch } from './auth-fetch.js';
import type { StoredLogin } from './login-file.js';
import { isPrivate } from './reach.js';
import { asClient, secretsOf, withoutSecrets } from './secrets.js';

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
