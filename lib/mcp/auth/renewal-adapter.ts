import {
  discoverAuthorizationServerMetadata,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import { authFetch } from './auth-fetch.js';
import type { StoredLogin, StoredTokens } from './login-file.js';
import { asClient, secretsOf, withoutSecrets } from './secrets.js';
import { storedTokens } from './stored-tokens.js';

/** Errors that mean that the login has ended. */
const OVER: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];

/** New tokens for a login; null if the authorization server no longer issues any. Throws a `HiError` that names no secret. */
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
